import { MAX_BATCH_BYTES_SENT } from '../message/limits.ts';

/** How large a batch has become: its messages, and the UTF-8 bytes of the request body that they make. */
export interface BatchSize {
  readonly count: number;
  readonly bodyBytes: number;
}

/** The body of a batch request, from the bodies of its messages. */
export function batchBody(bodies: readonly Uint8Array[], sentAt: string): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from('{"batch":[')];
  bodies.forEach((body, index) => {
    if (index > 0) parts.push(COMMA);
    parts.push(body);
  });
  return Buffer.concat([...parts, Buffer.from(`],"sentAt":"${sentAt}"}`)]);
}

const COMMA = Buffer.from(',');

export const EMPTY_BATCH: BatchSize = {
  count: 0,
  bodyBytes: batchBody([], '2026-01-01T00:00:00.000Z').byteLength,
};

/** The size with one more message, of `bytes` bytes, and the comma before it. */
export function grown({ count, bodyBytes }: BatchSize, bytes: number): BatchSize {
  return { count: count + 1, bodyBytes: bodyBytes + bytes + (count === 0 ? 0 : 1) };
}

/** Whether a batch of this size may be sent. One message always may: it cannot be cut. */
export function isAllowed({ count, bodyBytes }: BatchSize): boolean {
  return count <= 1 || bodyBytes <= MAX_BATCH_BYTES_SENT;
}

/** Whether there is no use in waiting for more messages. */
export function isBatchFull({ count, bodyBytes }: BatchSize, flushAt: number): boolean {
  return count >= flushAt || bodyBytes >= MAX_BATCH_BYTES_SENT;
}
