import { describe, expect, it } from 'vitest';
import { isShown } from './sample.ts';

describe('a sample of output', () => {
  it.each([
    ['in 108ms, 64.8 a second; latency p50 0.91ms', 'in 1.2s, 6 a second; latency p50 12ms'],
    ['read       7\ndelivered  7\n', 'note: a note\nread 7\ndelivered 7\nreceived 7 valid\n'],
    ['seen at http://localhost:3000/hook', 'seen at http://localhost:17027/hook'],
    ['first\n…\nlast', 'first\nsecond\nthird\nlast'],
    ['fix: insert it, …', 'fix: insert it, then count'],
  ])(
    'is shown by an output that differs in times, ports, columns and what is left out: %j',
    (sample, output) => {
      expect(isShown(sample, output)).toBe(true);
    },
  );

  it.each([
    ['read       7\ndelivered  7', 'read 7\ndelivered 6'],
    ['over 573 bytes', 'over 15 bytes'],
    ['a\nb', 'a\nc\nb'],
    ['a line', 'a line of more words'],
  ])('is not shown by another output: %j', (sample, output) => {
    expect(isShown(sample, output)).toBe(false);
  });
});
