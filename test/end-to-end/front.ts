import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A proxy with a fixed address for a service that is killed and restarted. It records the responses. */
export interface Front {
  readonly url: string;
  /** The `messageId`s of batches that the service accepted with 200, even if the client did not get the response. */
  readonly acknowledged: ReadonlySet<string>;
  /** Number of calls without a response, because the service was down or was killed. */
  readonly broken: number;
  /** Statuses of the responses other than 200. */
  readonly refused: readonly number[];
  /** Sets the current URL of the service. */
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
