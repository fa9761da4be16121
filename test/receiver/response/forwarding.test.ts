import { describe, expect, it } from 'vitest';
import { endToEndHeaders, relayedResponse } from '../../../src/receiver/response/forwarding.ts';

describe('endToEndHeaders', () => {
  it('keeps order, spelling and repetition', () => {
    expect(endToEndHeaders(['X-B', '1', 'x-a', '2', 'X-B', '3'])).toEqual([
      ['X-B', '1'],
      ['x-a', '2'],
      ['X-B', '3'],
    ]);
  });

  it('drops the headers of the connection and those that Connection names', () => {
    const headers = ['Host', 'a', 'Connection', 'close, X-Mine', 'x-mine', '1'];
    const body = ['Transfer-Encoding', 'chunked', 'Content-Type', 'text/plain'];
    expect(endToEndHeaders([...headers, ...body])).toEqual([['Content-Type', 'text/plain']]);
  });
});

describe('relayedResponse', () => {
  it.each([
    [{ status: 204 }, { status: 204, text: '', headers: [] }],
    [
      { status: 429, retryAfter: '3', reply: 'later' },
      { status: 429, text: 'later', headers: ['retry-after', '3'] },
    ],
    [
      { error: 'timeout', detail: 'no answer' },
      { status: 504, text: 'timeout: no answer\n', headers: [] },
    ],
    [
      { error: 'refused', detail: 'nobody' },
      { status: 502, text: 'refused: nobody\n', headers: [] },
    ],
  ])('converts %j to %j', (forwarded, answer) => {
    expect(relayedResponse({ url: 'http://a', ms: 1, ...forwarded })).toEqual(answer);
  });
});
