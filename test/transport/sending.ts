import { onTestFinished } from 'vitest';
import type { Transport, TransportRequest, TransportResult } from '../../src/transport/transport.ts';
import { createUndiciTransport, type UndiciTransportOptions } from '../../src/transport/undici-transport.ts';

/** Short enough for tests, and long enough for a loopback connection on a busy machine. */
export const SHORT_MS = 1_000;

export function newTransport(options?: UndiciTransportOptions): Transport {
  const transport = createUndiciTransport(options);
  onTestFinished(() => transport.close());
  return transport;
}

/** Closes the transport when the test ends. */
export async function started<Thing extends { close(): Promise<void> }>(
  starting: Promise<Thing>,
): Promise<Thing> {
  const thing = await starting;
  onTestFinished(() => thing.close());
  return thing;
}

export function requestTo(url: string, rest: Partial<TransportRequest> = {}): TransportRequest {
  return {
    url,
    headers: ['content-type', 'application/json'],
    body: Buffer.from('{}'),
    timeoutMs: 5_000,
    ...rest,
  };
}

/** Sends a request over a transport of its own. */
export function sendTo(url: string, rest?: Partial<TransportRequest>): Promise<TransportResult> {
  return newTransport().send(requestTo(url, rest));
}
