import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedBatch {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bodyBytes: number;
  readonly sentAt: string;
  readonly batch: readonly Readonly<Record<string, unknown>>[];
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Delays the response until this resolves. */
  readonly after?: Promise<void>;
}

/** A tracking API on a free loopback port. Records the batches and responds with `answers`, then with 200. */
export class BatchReceiver {
  readonly received: ReceivedBatch[] = [];
  /** The next responses, in order; a function gets the batch. */
  readonly answers: (Answer | ((batch: ReceivedBatch) => Answer))[] = [];
  url = '';
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<BatchReceiver> {
    const server = createServer();
    const receiver = new BatchReceiver(server);
    server.on('request', (request, response) => void receiver.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return receiver;
  }

  /** The events of the tracks received, batch by batch. */
  get events(): unknown[][] {
    return this.received.map(({ batch }) => batch.map(({ event }) => event));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, headers, body = '', after } = this.#receive(request, await bodyOf(request));
    await after;
    response.writeHead(status, headers).end(body);
  }

  #receive(request: IncomingMessage, body: Buffer): Answer {
    const { batch, sentAt } = JSON.parse(body.toString()) as Pick<ReceivedBatch, 'batch' | 'sentAt'>;
    const received = {
      path: request.url ?? '',
      headers: request.headers,
      bodyBytes: body.length,
      sentAt,
      batch,
    };
    this.received.push(received);
    const answer = this.answers.shift() ?? { status: 200, body: '{"success":true}' };
    return typeof answer === 'function' ? answer(received) : answer;
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
