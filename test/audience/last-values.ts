import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';

export interface LastValues {
  readonly url: string;
  /** The last value of each user. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Number of identify messages. */
  readonly requests: () => number;
  /** Number of identify messages that repeated the last value of the user. */
  readonly repeats: () => number;
  /** Sets the status of the next responses. */
  answer(statusOf: (userId: string) => number): void;
  close(): Promise<void>;
}

interface Identify {
  readonly userId: string;
  readonly traits: Readonly<Record<string, unknown>>;
}

/** A receiver that stores the last value of the one trait of each user, whatever status it responds with. Accepts batches, too. */
export async function lastValues(): Promise<LastValues> {
  const values = new Map<string, unknown>();
  let [requests, repeats] = [0, 0];
  let statusOf = always200;
  const store = ({ userId, traits }: Identify): number => {
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
      const statuses = identifies.map(store);
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

/** The initial status of all responses. */
function always200(_userId: string): number {
  return 200;
}
