import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findProblem } from '../../../src/message/json/find-problem.ts';
import { json } from '../arbitraries.ts';

const EMPTY_HINT = 'is it the right file, or did the program that wrote it fail?';
const NUMBER_HINT = 'no leading zeros, no `+` in front, digits on both sides of the point';

describe('findProblem', () => {
  it.each([
    // text, offset, sentence, hint
    ['', 0, 'Expected JSON, got an empty text', EMPTY_HINT],
    [' \n', 2, 'Expected JSON, got an empty text', EMPTY_HINT],
    ['{', 1, 'The text ends inside the object', 'is it cut off? `}` is missing'],
    ['{"a":[1,{"b":"x', 15, 'The text ends inside the string `a[1].b`', 'is it cut off? `"}]}` is missing'],
    ['{"a":[1,{"b":2', 14, 'The text ends inside the object `a[1]`', 'is it cut off? `}]}` is missing'],
    ['{"a":1,"b', 9, 'The text ends inside a key of the object', 'is it cut off? `"}` is missing'],
    ['{"a":[1,', 8, 'The text ends inside the array `a`', 'is it cut off? `]}` is missing'],
    ['{"a":"\\u12', 10, 'The text ends inside the string `a`', 'is it cut off? `"}` is missing'],
    ['[1.', 3, 'The text ends inside the number `[0]`', 'is it cut off? `]` is missing'],
    ['-', 1, 'The text ends inside the number', 'is it cut off?'],
    ['[fals', 5, 'The text ends inside the word `[0]`', 'is it cut off? `]` is missing'],
    ['[1,]', 3, 'Expected a value, got `]`', 'is there an extra comma before it?'],
    ['{"a":1,}', 7, 'Expected a key in double quotes, got `}`', 'is there an extra comma before it?'],
    ["{'a':1}", 1, "Expected a key in double quotes, got `'`", 'strings take double quotes'],
    ['{a:1}', 1, 'Expected a key in double quotes, got `a`', expect.stringContaining('the shell took them')],
    ['{"a" 1}', 5, 'Expected `:` after the key, got `1`', undefined],
    ['{"a":1 "b":2}', 7, 'Expected `,` or `}`, got `"`', 'is there a comma missing before it?'],
    ['{"a":[1,2}', 9, 'Expected `,` or `]`, got `}`', undefined],
    ['[NaN]', 1, 'Expected a value, got `NaN`', 'JSON has no such number: send null or a string'],
    ['[-Infinity]', 1, 'Expected a number as JSON spells it, got `-`', NUMBER_HINT],
    ['[True]', 1, 'Expected a value, got `True`', 'write true'],
    ['[constructor]', 1, 'Expected a value, got `constructor`', undefined],
    ['// note\n{}', 0, 'Expected a value, got `/`', 'JSON has no comments'],
    [
      '{} {}',
      3,
      'Expected the end of the text, got `{`',
      'several messages: one a line, or in `[` `]` with commas',
    ],
    ['[01]', 1, 'Expected a number as JSON spells it, got `01`', NUMBER_HINT],
    ['["a\tb"]', 3, 'Expected no control character inside a string, got `\\t`', 'write it as `\\t`'],
    ['["\\x41"]', 2, 'Expected an escape of JSON, got `\\x`', 'write a backslash as `\\\\`'],
    ['[🍰]', 1, 'Expected a value, got `🍰`', undefined],
  ])('explains %j', (text, offset, sentence, hint) => {
    expect(findProblem(text)).toEqual({
      kind: 'syntax',
      offset,
      sentence,
      ...(hint === undefined ? {} : { hint }),
    });
  });

  it('finds no problem in JSON that loses nothing', () => {
    fc.assert(fc.property(json, (value) => findProblem(JSON.stringify(value, null, 1)) === undefined));
  });

  it('finds a syntax error exactly if JSON.parse throws', () => {
    const edit = fc.record({
      at: fc.nat(60),
      cut: fc.nat(3),
      put: fc.constantFrom('', ...'"\\{}[],:0-.et\n\u0000'.split('')),
    });
    fc.assert(
      fc.property(json, edit, (value, { at, cut, put }) => {
        const text = JSON.stringify(value);
        const edited = text.slice(0, at) + put + text.slice(at + cut);
        expect(findProblem(edited)?.kind === 'syntax').toBe(!isJson(edited));
      }),
      { numRuns: 3000 },
    );
  });

  it('reports that cut-off JSON ends too early, at its end', () => {
    fc.assert(
      fc.property(
        fc.record({ a: json, b: fc.array(json) }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (value, share) => {
          const text = JSON.stringify(value);
          const cut = text.slice(0, 1 + Math.floor(share * (text.length - 2)));
          expect(findProblem(cut)).toMatchObject({
            kind: 'syntax',
            offset: cut.length,
            sentence: expect.stringMatching(/^The text ends inside/) as string,
          });
        },
      ),
    );
  });

  it('walks a very deep and a very long text', () => {
    expect(findProblem('['.repeat(100_000))).toMatchObject({ kind: 'syntax', offset: 100_000 });
    expect(findProblem(`["${'x'.repeat(1_000_000)}",]`)).toMatchObject({ kind: 'syntax', offset: 1_000_004 });
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
