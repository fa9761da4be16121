import { assert, nat, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatDuration, parseDuration } from '../src/duration.ts';

describe('parseDuration', () => {
  it.each([
    ['250ms', 250],
    ['5s', 5_000],
    ['10m', 600_000],
    ['4h', 14_400_000],
    ['30d', 2_592_000_000],
    ['1h30m', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1.5s', 1_500],
    ['4 hours', 14_400_000],
    [' 5s ', 5_000],
    ['5S', 5_000],
    ['0', 0],
    [0, 0],
    [-1, -1],
    ['-1', -1],
    ['-5s', -5_000],
  ])('reads %j as %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each(['', 'soon', '5x', '5s!', 's5', '1h-30m', '5 s s', '1e3s', '٥s'])('rejects %j', (text) => {
    expect(parseDuration(text)).toMatchObject({ expected: 'to be a duration' });
  });

  it('rejects a number without a unit with a hint', () => {
    expect(parseDuration(5000)).toEqual({
      expected: 'to have a unit',
      hint: 'write 5000ms for milliseconds, 5000s for seconds',
    });
    expect(parseDuration('30')).toMatchObject({ expected: 'to have a unit' });
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0'],
    [1, '1ms'],
    [30_000, '30s'],
    [5_400_000, '1h30m'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it('writes what parseDuration reads back', () => {
    assert(
      property(nat(2 ** 40), (ms) => {
        expect(parseDuration(formatDuration(ms))).toBe(ms);
      }),
    );
  });
});
