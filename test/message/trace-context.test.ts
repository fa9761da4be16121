import { describe, expect, it } from 'vitest';
import { readTraceContext, traceAttempt } from '../../src/message/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const CAME = `00-${TRACE}-${PARENT}-01`;

describe('readTraceContext', () => {
  it.each([
    ['a version 00', CAME, CAME],
    ['not sampled', `00-${TRACE}-${PARENT}-00`, `00-${TRACE}-${PARENT}-00`],
    [
      'a random trace id, and flags that are not known',
      `00-${TRACE}-${PARENT}-ff`,
      `00-${TRACE}-${PARENT}-03`,
    ],
    ['a later version', `cc-${TRACE}-${PARENT}-01`, CAME],
    ['a later version with more in it', `cc-${TRACE}-${PARENT}-01-what-the-future-brings`, CAME],
  ])('reads %s', (_, traceparent, stored) => {
    expect(readTraceContext({ traceparent })).toBe(stored);
  });

  // From the W3C's own test suite (trace-context/test/test.py).
  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['version ff', `ff-${TRACE}-${PARENT}-01`],
    ['a version that is not hex', `.0-${TRACE}-${PARENT}-01`],
    ['a version that is too short', `0-${TRACE}-${PARENT}-01`],
    ['a version that is too long', `000-${TRACE}-${PARENT}-01`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['a trace id in capitals', `00-${TRACE.toUpperCase()}-${PARENT}-01`],
    ['a trace id that is too long', `00-${TRACE}0-${PARENT}-01`],
    ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['a parent id that is too short', `00-${TRACE}-${PARENT.slice(1)}-01`],
    ['flags that are not hex', `00-${TRACE}-${PARENT}-.1`],
    ['flags that are too short', `00-${TRACE}-${PARENT}-1`],
    ['version 00 with more in it', `${CAME}-more`],
    ['a later version with more in it, but no dash', `cc-${TRACE}-${PARENT}-01.more`],
    ['two headers', `${CAME}, ${CAME}`],
    ['a line break', `${CAME}\nX-Evil: 1`],
  ])('ignores %s and its tracestate', (_, traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeUndefined();
  });

  it.each([
    ['one vendor', 'rojo=00f067aa0ba902b7', 'rojo=00f067aa0ba902b7'],
    [
      'several, with blanks around and between',
      ' rojo=1 ,\tcongo=t61rcWkgMzE, ,x@y=z',
      'rojo=1,congo=t61rcWkgMzE,x@y=z',
    ],
    ['two headers, which arrive as one', 'rojo=1, congo=2', 'rojo=1,congo=2'],
    ['32 vendors', members(32), members(32)],
  ])('propagates the tracestate of %s', (_, tracestate, passed) => {
    expect(readTraceContext({ traceparent: CAME, tracestate })).toBe(`${CAME} ${passed}`);
  });

  it.each([
    ['a key in capitals', 'Rojo=1'],
    ['no value', 'rojo'],
    ['an empty value', 'rojo='],
    ['an equals sign in a value', 'rojo=1=2'],
    ['a control character', 'rojo=1\u0007'],
    ['33 vendors', members(33)],
    ['one fault among several', 'rojo=1,=2'],
  ])('keeps the traceparent, and drops a tracestate with %s', (_, tracestate) => {
    expect(readTraceContext({ traceparent: CAME, tracestate })).toBe(CAME);
  });

  it('propagates 512 characters, and drops whole members from the end of a longer state', () => {
    const tracestate = ['a', 'b', 'c'].map(long).join(',');
    expect(readTraceContext({ traceparent: CAME, tracestate })).toBe(`${CAME} ${long('a')},${long('b')}`);
    const exact = `a=${'v'.repeat(254)},b=${'v'.repeat(253)}`;
    expect(exact).toHaveLength(512);
    expect(readTraceContext({ traceparent: CAME, tracestate: exact })).toBe(`${CAME} ${exact}`);
  });
});

describe('traceAttempt', () => {
  it('continues the trace of the call with a span of its own', () => {
    const first = traceAttempt(`${CAME} rojo=1, congo=2`, 'd1');
    const second = traceAttempt(`${CAME} rojo=1, congo=2`, 'd1');
    expect(first.traceId).toBe(TRACE);
    expect(first.spanId).toMatch(/^[\da-f]{16}$/);
    expect(second.spanId).not.toBe(first.spanId);
    expect(first.headers).toEqual([
      'traceparent',
      `00-${TRACE}-${first.spanId}-01`,
      'tracestate',
      'rojo=1, congo=2',
    ]);
  });

  it('starts one sampled trace per delivery for all its attempts', () => {
    const [one, again, other] = ['d1', 'd1', 'd2'].map((id) => traceAttempt(undefined, id));
    expect(one?.traceId).toMatch(/^[\da-f]{32}$/);
    expect(again?.traceId).toBe(one?.traceId);
    expect(other?.traceId).not.toBe(one?.traceId);
    expect(readTraceContext({ traceparent: one?.headers[1] })).toBe(`00-${one?.traceId}-${one?.spanId}-01`);
    expect(one?.headers).toHaveLength(2);
  });

  it('starts a new trace if the stored context is malformed', () => {
    expect(traceAttempt('damaged state', 'd1').headers).toEqual([
      'traceparent',
      expect.stringMatching(/^00-[\da-f]{32}-[\da-f]{16}-01$/),
    ]);
  });
});

function long(key: string): string {
  return `${key}=${'v'.repeat(200)}`;
}

function members(count: number): string {
  return Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
}
