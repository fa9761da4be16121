import { describe, expect, it } from 'vitest';
import { differenceText, differingLines, isSameState } from '../../src/idempotence/state-difference.ts';

describe('isSameState', () => {
  it.each([
    ['the same text', 'a\nb\n', 'a\nb\n'],
    ['lines in another order', 'a\nb', 'b\na\n'],
    ['Windows line endings', 'a\r\nb\r\n', 'a\nb'],
    ['a JSON list in another order', '[{"id":1},{"id":2}]', '[{"id":2},{"id":1}]'],
    ['keys of JSON in another order', '{"a":[2,1],"b":1}', '{"b":1,"a":[1,2]}\n'],
    [
      'lines of JSON with keys in another order',
      '{"id":1,"n":1}\n{"id":2,"n":1}',
      '{"n":1,"id":2}\n{"n":1,"id":1}',
    ],
  ])('treats %s as the same state', (_, one, other) => expect(isSameState(one, other)).toBe(true));

  it.each([
    ['an additional line', 'a\nb', 'a\nb\nb'],
    ['another number', 'orders|1', 'orders|2'],
    ['an additional item of a JSON list', '[1,1]', '[1]'],
    ['another value of JSON', '{"a":{"b":1}}', '{"a":{"b":2}}'],
    ['text that begins like JSON', '[1', '[2'],
    ['nothing', '', 'a'],
  ])('treats %s as a difference', (_, one, other) => expect(isSameState(one, other)).toBe(false));
});

describe('differingLines', () => {
  it('lists each line as often as it is missing or added', () => {
    expect(differingLines('a\nb\nc', 'b\nb\nc')).toEqual({ missing: ['a'], added: ['b'] });
    const [one, other] = ['{"a":1,"b":1}', '{"b":1,"a":1}'];
    expect(differingLines(one, `${other}\n${one}`)).toEqual({ missing: [], added: [one] });
  });
});

describe('differenceText', () => {
  it('names the first line that differs', () => {
    expect(differenceText('a\nb', 'a\nc')).toBe('line 2 differs: `b` and `c`');
    expect(differenceText('a', 'a\nb')).toBe('line 2 differs: nothing and `b`');
  });

  it('shows the differing part of long lines', () => {
    const same = '{"ids":{"a":1},'.repeat(20);
    const text = differenceText(`${same}"x":1}`, `${same}"x":2}`);
    expect(text).toMatch(/^line 1 differs: `….*"x":1}` and `….*"x":2}`$/);
    expect(text.length).toBeLessThan(120);
  });
});
