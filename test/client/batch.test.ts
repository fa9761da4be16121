import { describe, expect, it } from 'vitest';
import { EMPTY_BATCH, batchBody, grown, isAllowed, isBatchFull } from '../../src/client/batch.ts';

const SENT_AT = '2026-11-20T21:10:05.123Z';

describe('the size of a batch', () => {
  it('is the size of its request body, including commas and envelope', () => {
    const texts = ['{"a":1}', '{"b":"é"}', '{"c":"😀"}'];
    let size = EMPTY_BATCH;
    expect(size.bodyBytes).toBe(batchBody([], SENT_AT).byteLength);
    for (const [index, text] of texts.entries()) {
      size = grown(size, Buffer.byteLength(text));
      const bodies = texts.slice(0, index + 1).map((each) => Buffer.from(each));
      const body = batchBody(bodies, SENT_AT);
      expect(size).toEqual({ count: index + 1, bodyBytes: body.byteLength });
      expect(JSON.parse(Buffer.from(body).toString())).toMatchObject({ sentAt: SENT_AT });
    }
  });

  it('is allowed up to 500,000 bytes', () => {
    const envelope = EMPTY_BATCH.bodyBytes;
    const half = grown(EMPTY_BATCH, 250_000);
    expect(isAllowed(grown(half, 250_000 - envelope - 1))).toBe(true);
    expect(isAllowed(grown(half, 250_000 - envelope))).toBe(false);
  });

  it('is always allowed for a single message', () => {
    expect(isAllowed(grown(EMPTY_BATCH, 600_000))).toBe(true);
  });

  it('is full at flushAt messages or 500,000 bytes', () => {
    const two = grown(grown(EMPTY_BATCH, 10), 10);
    expect(isBatchFull(two, 3)).toBe(false);
    expect(isBatchFull(two, 2)).toBe(true);
    expect(isBatchFull(grown(EMPTY_BATCH, 500_000 - EMPTY_BATCH.bodyBytes), 3)).toBe(true);
  });
});
