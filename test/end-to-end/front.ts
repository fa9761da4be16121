import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** Stands where clients call while the service behind it comes and goes, and notes what was answered. */
export interface Front {
  readonly url: string;
  /** The `messageId` of every message of a batch that the service accepted with 200, whether or not the client got to know. */
  readonly acknowledged: ReadonlySet<string>;
  /** Calls that came to nothing, because the service was not there or went away. */
  readonly broken: number;
  /** Answers that were not 200, by status. */
  readonly refused: readonly number[];
  /** Where the service is now. */
  lead(url: string): void;
}

export async function front(): Promise<Front> {
  const acknowledged = new Set<string>();
  const refused: number[] = [];
  let [service, broken] = ['', 0];
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await buffer(request);
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const headers = { authorization, 'content-type': type };
    const answer = await fetch(`${service}${request.url ?? ''}`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status !== 200) refused.push(answer.status);
    else for (const id of idsIn(body)) acknowledged.add(id);
    response.writeHead(answer.status, { 'retry-after': answer.headers.get('retry-after') ?? '1' }).end(text);
  };
  const server = createServer((request, response) => {
    pass(request, response).catch(() => {
      broken++;
      response.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    acknowledged,
    refused,
    get broken() {
      return broken;
    },
    lead: (url) => {
      service = url;
    },
  };
}

function idsIn(body: Buffer): readonly string[] {
  const { batch } = JSON.parse(body.toString()) as { batch: readonly { messageId: string }[] };
  return batch.map(({ messageId }) => messageId);
}
