import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

export interface LastValues {
  readonly url: string;
  /** What each user was told last. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Identifies. */
  readonly requests: () => number;
  /** Those that told a user what that user was told last. */
  readonly repeats: () => number;
  /** What is answered from now on. */
  answer(statusOf: (userId: string) => number): void;
  close(): Promise<void>;
}

interface Identify {
  readonly userId: string;
  readonly traits: Readonly<Record<string, unknown>>;
}

/** A receiver that remembers the one trait of each user as it was told last, whatever it then answers. It takes batches too. */
export async function lastValues(): Promise<LastValues> {
  const values = new Map<string, unknown>();
  let [requests, repeats] = [0, 0];
  let statusOf = always200;
  const hear = ({ userId, traits }: Identify): number => {
    const [value] = Object.values(traits);
    requests++;
    if (values.get(userId) === value) repeats++;
    values.set(userId, value);
    return statusOf(userId);
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as
        Identify | { readonly batch: readonly Identify[] };
      const identifies = 'batch' in body ? body.batch : [body];
      const statuses = identifies.map(hear);
      response.writeHead(Math.max(...statuses), { 'content-length': 0 }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}/webhook`,
    values,
    requests: () => requests,
    repeats: () => repeats,
    answer: (next) => {
      statusOf = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What every user is answered at first. */
function always200(_userId: string): number {
  return 200;
}
