import { MAX_BATCH_BYTES_SENT } from '../message/limits.ts';

export interface BatchSize {
  /** Number of messages in the batch. */
  readonly count: number;
  /** Number of bytes of the request body in UTF-8. */
  readonly bodyBytes: number;
}

/** Builds the body of a batch request from the bodies of its messages. */
export function batchBody(bodies: readonly Uint8Array[], sentAt: string): Uint8Array {
  const parts: Uint8Array[] = [Buffer.from(START)];
  bodies.forEach((body, index) => {
    if (index > 0) parts.push(COMMA);
    parts.push(body);
  });
  return Buffer.concat([...parts, Buffer.from(`${SENT_AT}${sentAt}${END}`)]);
}

const COMMA = Buffer.from(',');
const START = '{"batch":[';
const SENT_AT = '],"sentAt":"';
const END = '"}';

export const EMPTY_BATCH: BatchSize = {
  count: 0,
  bodyBytes: `${START}${SENT_AT}2026-01-01T00:00:00.000Z${END}`.length,
};

/** Returns the size of a batch to which a message of `bytes` bytes, and the comma before it, is added. */
export function grown({ count, bodyBytes }: BatchSize, bytes: number): BatchSize {
  return { count: count + 1, bodyBytes: bodyBytes + bytes + (count === 0 ? 0 : 1) };
}

/** Whether a batch of this size may be sent. A batch with a single message always may, because it cannot be split. */
export function isAllowed({ count, bodyBytes }: BatchSize): boolean {
  return count <= 1 || bodyBytes <= MAX_BATCH_BYTES_SENT;
}

/** Whether a batch should be sent without waiting for more messages. */
export function isBatchFull({ count, bodyBytes }: BatchSize, flushAt: number): boolean {
  return count >= flushAt || bodyBytes >= MAX_BATCH_BYTES_SENT;
}
