import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way to a server, which is cut once a number of commands has gone over it. */
export interface CuttingLink {
  readonly url: string;
  /** Ends all connections as soon as the n-th command from now has gone to the server, before its answer comes back. */
  cutAfter(commands: number): void;
  /** Cuts nothing from now on. Returns whether it was cut. */
  stopCutting(): boolean;
  close(): Promise<void>;
}

export async function cuttingLinkTo(url: string): Promise<CuttingLink> {
  const target = new URL(url);
  const [host, port, countCommands] = [
    target.hostname,
    Number(target.port),
    target.protocol.startsWith('redis') ? redisCommands : postgresCommands,
  ];
  const sockets = new Set<Socket>();
  let left = Infinity;
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    const far = connect(port, host);
    const commandsIn = countCommands();
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    near.on('data', (bytes) => {
      if (left <= 0) return;
      left -= commandsIn(bytes);
      if (left > 0) far.write(bytes);
      // What has gone to the server is done there, and nobody learns of it.
      else far.end(bytes, () => setImmediate(cut));
    });
    far.on('data', (bytes) => {
      if (left > 0) near.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  target.port = String((server.address() as AddressInfo).port); // of a TCP server
  return {
    url: target.href,
    cutAfter: (commands) => {
      left = commands;
    },
    stopCutting: () => {
      const wasCut = left <= 0;
      left = Infinity;
      return wasCut;
    },
    close: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Arrays of RESP that begin in the bytes. A body that holds the same would be counted too: the tests have none. */
function redisCommands(): (bytes: Buffer) => number {
  return (bytes) => [...bytes.toString('latin1').matchAll(/(?:^|\r\n)\*\d+\r\n\$/g)].length;
}

/** Simple queries and executions: whole messages of a type and a length, behind one without a type. */
function postgresCommands(): (bytes: Buffer) => number {
  let rest = Buffer.alloc(0);
  let isStarted = false;
  return (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    let count = 0;
    for (;;) {
      const head = isStarted ? 1 : 0;
      if (rest.length < head + 4) return count;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return count;
      if (isStarted && 'QE'.includes(String.fromCharCode(rest[0] ?? 0))) count++;
      isStarted = true;
      rest = rest.subarray(length);
    }
  };
}
