import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way to a server, which can be cut. */
export interface Link {
  /** The server's URL, by this way. */
  readonly url: string;
  /** Ends what goes over it, and lets nobody on. */
  cut(): void;
  /** Lets nothing through and ends nothing, as a cable that is pulled. */
  stall(): void;
  mend(): void;
  /** Leads new connections to another server. */
  lead(url: string): void;
  close(): Promise<void>;
}

export async function linkTo(url: string): Promise<Link> {
  const target = new URL(url);
  let [host, port] = [target.hostname, Number(target.port)];
  const sockets = new Set<Socket>();
  let state: 'up' | 'cut' | 'stalled' = 'up';
  const server = createServer((near) => {
    if (state === 'cut') return near.destroy();
    const far = connect(port, host);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('data', (bytes) => {
        if (state === 'up') other.write(bytes);
      });
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    return undefined;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const drop = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  target.port = String((server.address() as AddressInfo).port); // of a TCP server
  return {
    url: target.href,
    cut: () => {
      state = 'cut';
      drop();
    },
    stall: () => {
      state = 'stalled';
    },
    mend: () => {
      // What was not let through is lost, and with it whatever came over the connections afterwards.
      if (state === 'stalled') drop();
      state = 'up';
    },
    lead: (other) => {
      const { hostname, port: number } = new URL(other);
      [host, port] = [hostname, Number(number)];
    },
    close: async () => {
      drop();
      server.close();
      await once(server, 'close');
    },
  };
}
