import { describe, expect, it } from 'vitest';
import { causeCodeOf, quotationOf } from '../../../src/diagnosis/explain.ts';
import { classify } from '../../../src/engine/round/classify.ts';
import type { NetworkError, TransportResult } from '../../../src/transport/transport.ts';
import { answer, failure } from '../harness.ts';

const TIMES = {
  at: 1_000,
  clock: { now: () => 2_000 },
  sendsKey: false,
  causes: { causeCodeOf, quotationOf },
};
const TEMPORARY_4XX = [408, 423, 425, 429];

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe('classify', () => {
  it.each([200, 201, 202, 204, 226, 299])('classifies %i as delivered', (status) => {
    expect(classify(answer(status), TIMES)).toEqual({ at: 1_000, ms: 7, result: 'delivered', status });
  });

  it.each([
    ['every redirect as rejected, since redirects are never followed', 300, 'rejected', 'redirect'],
    ['most 4xx as rejected', 400, 'rejected', 'http-4xx'],
    ['every 5xx as retryable', 500, 'retryable', 'http-5xx'],
  ] as const)('classifies %s', (_, first, result, error) => {
    const statuses = range(first, first + 99).filter((status) => !TEMPORARY_4XX.includes(status));
    for (const status of statuses) {
      expect(classify(answer(status), TIMES)).toMatchObject({ result, error, status });
    }
  });

  it.each(TEMPORARY_4XX)('classifies %i as retryable', (status) => {
    expect(classify(answer(status), TIMES)).toMatchObject({ result: 'retryable', error: 'http-4xx', status });
  });

  it.each([0, 99, 100, 103, 199, 600, 999])(
    'classifies status %i, which HTTP does not have, as a malformed response',
    (status) => {
      expect(classify(answer(status, { retryAfter: '5' }), TIMES)).toEqual({
        at: 1_000,
        ms: 7,
        result: 'retryable',
        error: 'protocol',
        status,
        detail: `no HTTP status: ${status}`,
      });
    },
  );

  it.each([
    'timeout',
    'refused',
    'dns',
    'reset',
    'protocol',
    'aborted',
    'blocked-address',
  ] satisfies NetworkError[])('takes %s as retryable', (error) => {
    expect(classify(failure(error), TIMES)).toEqual({
      at: 1_000,
      ms: 7,
      result: 'retryable',
      error,
      detail: `it was ${error}`,
    });
  });

  it.each([
    'tls-self-signed',
    'tls-expired',
    'tls-hostname',
    'tls-untrusted',
    'tls',
  ] satisfies NetworkError[])('takes %s as rejected', (error) => {
    expect(classify(failure(error), TIMES)).toMatchObject({ result: 'rejected', error });
  });

  it('classifies 409 as retryable only if the engine sent an Idempotency-Key', () => {
    expect(classify(answer(409), TIMES)).toMatchObject({ result: 'rejected', error: 'http-4xx' });
    expect(classify(answer(409, { retryAfter: '2' }), { ...TIMES, sendsKey: true })).toMatchObject({
      result: 'retryable',
      error: 'http-4xx',
      retryAfterMs: 2_000,
    });
  });

  it('reads Retry-After of a retryable response', () => {
    expect(classify(answer(503, { retryAfter: '5' }), TIMES)).toMatchObject({ retryAfterMs: 5_000 });
    expect(classify(answer(429, { retryAfter: '5' }), TIMES)).toMatchObject({ retryAfterMs: 5_000 });
    expect(classify(answer(503, { retryAfter: 'soon' }), TIMES)).not.toHaveProperty('retryAfterMs');
    expect(classify(answer(400, { retryAfter: '5' }), TIMES)).not.toHaveProperty('retryAfterMs');
  });

  it('keeps the beginning of the body of a failed response only', () => {
    expect(classify(answer(500, { body: 'x'.repeat(1_000) }), TIMES).detail).toBe('x'.repeat(300));
    expect(classify(answer(500, { body: '' }), TIMES)).not.toHaveProperty('detail');
    expect(classify(answer(200, { body: 'thanks' }), TIMES)).not.toHaveProperty('detail');
  });

  it('notes a repeated connection for every result', () => {
    const results: TransportResult[] = [answer(200), answer(503), answer(404), failure('reset')];
    for (const result of results) {
      expect(classify({ ...result, reconnected: true }, TIMES)).toMatchObject({ reconnected: true });
      expect(classify(result, TIMES)).not.toHaveProperty('reconnected');
    }
  });
});
