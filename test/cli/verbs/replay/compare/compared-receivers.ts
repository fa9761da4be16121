import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEachFile } from '../../../../clean-ups.ts';

export interface ReceivedMessage {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly message: { readonly messageId: string; readonly event?: string; readonly userId: string };
}

export interface Reply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: unknown;
  readonly afterMs?: number;
}

export interface RunningReceiver {
  readonly url: string;
  readonly received: readonly ReceivedMessage[];
}

const servers: (() => void)[] = [];
afterEachFile(() => {
  for (const close of servers.splice(0)) close();
});

/** Starts a receiver on a free port. Without a reply, it breaks the connection off. */
export async function receiver(
  reply: (received: ReceivedMessage) => Reply | undefined,
): Promise<RunningReceiver> {
  const received: ReceivedMessage[] = [];
  const server = createServer((request, response) => {
    void respond(request, response);
  });
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const one = { headers: request.headers, text, message: JSON.parse(text) as ReceivedMessage['message'] };
    received.push(one);
    const { status = 200, headers, body = { ok: true }, afterMs } = reply(one) ?? { status: 0 };
    if (status === 0) {
      request.socket.destroy();
      return;
    }
    if (afterMs !== undefined) await pause(afterMs);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, received };
}

/** Returns the number in a message id: 17 of `m17`. */
export function numberOf({ message }: ReceivedMessage): number {
  return Number(message.messageId.slice(1));
}

/** Makes the response of a shop: with ids, clocks, counters and random values that differ in each response. */
export function shop(firstCount: number): (received: ReceivedMessage) => Reply & { readonly body: ShopBody } {
  let count = firstCount;
  return (received) => {
    const number = numberOf(received);
    count++;
    const [id, at] = [randomUUID(), new Date().toISOString()];
    return {
      headers: { 'x-request-id': randomUUID(), 'x-count': String(count), 'cache-control': 'no-store' },
      body: {
        id,
        at,
        count,
        nonce: randomBytes(6).toString('base64url'),
        shard: ['a', 'b', 'c'][Math.floor(Math.random() * 3)] ?? '',
        echo: received.message.messageId,
        status: 'accepted',
        total: number * 1.5,
        items: [
          { id: randomUUID(), sku: 'book' },
          { id: randomUUID(), sku: 'pen' },
        ],
        user: { id: received.message.userId, plan: 'pro' },
        // Fields that the messages with which noise is learned do not have.
        ...(number > 500 && { late: { requestId: randomUUID(), at, note: `Stored ${id} at ${at}` } }),
      },
    };
  };
}

export interface ShopBody {
  readonly total: unknown;
  readonly items: readonly object[];
  readonly user: { readonly id: string; readonly plan?: string };
  readonly [name: string]: unknown;
}

const EVERY = 100;

/** Makes the responses of another shop with seven differences, each in every hundredth message. */
export function changedShop(firstCount: number): (received: ReceivedMessage) => Reply | undefined {
  const make = shop(firstCount);
  return (received) => {
    const reply = make(received);
    const { body } = reply;
    switch (numberOf(received) % EVERY) {
      case 31:
        return { ...reply, status: 500, body: 'Internal Server Error' };
      case 32:
        return { ...reply, body: { ...body, user: { id: body.user.id } } };
      case 33:
        return { ...reply, body: { ...body, total: String(body.total) } };
      case 34:
        return { ...reply, body: { ...body, items: body.items.toReversed() } };
      case 35:
        return { ...reply, afterMs: 400 };
      case 36:
        return { ...reply, headers: { ...reply.headers, 'cache-control': 'public' } };
      case 37:
        return undefined;
      default:
        return reply;
    }
  };
}
