import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/message/json/read-json.ts';
import { findProblem } from '../../../src/message/json/find-problem.ts';
import { stringifiedTextOf } from '../../../src/message/json/stringified.ts';
import type { JsonValue } from '../../../src/message/types.ts';
import { json } from '../arbitraries.ts';

const isKnown = (given: string): boolean =>
  stringifiedTextOf(given, JSON.parse(given) as JsonValue) !== undefined;

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('0', '0', '1', '5', '9'), minLength: 1, maxLength });

/** Numbers in any spelling: outer zeros, exponents, too many digits, too large, too small. */
const token = fc
  .tuple(
    fc.constantFrom('', '-'),
    digits(18).map((whole) => whole.replace(/^0+(?=\d)/, '')),
    fc.oneof(
      fc.constant(''),
      digits(18).map((fraction) => `.${fraction}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc.tuple(fc.constantFrom('e', 'E+', 'e-'), digits(3)).map((exponent) => exponent.join('')),
    ),
  )
  .map((parts) => parts.join(''));

/** Texts that are not output of JSON.stringify: duplicate keys, any spelling of numbers, escapes, white space. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(token, fc.constantFrom('""', '"a"', '"é"', '"\\n"', '"\\u0041"', 'null', 'true', 'false')),
    fc.array(tie('text'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(fc.constantFrom('""', '"a"', '"b"', '"b" ', '"__proto__"', '"0"'), tie('text')), {
        maxLength: 3,
      })
      .map((members) => `{${members.map((member) => member.join(':')).join(',')}}`),
  ),
}));

describe('stringifiedTextOf', () => {
  it('recognizes only output of JSON.stringify, which loses nothing', () => {
    fc.assert(
      fc.property(text, (given) => {
        if (!isKnown(given)) return;
        expect(JSON.stringify(JSON.parse(given))).toBe(given);
        expect(findProblem(given)).toBeUndefined();
      }),
      { numRuns: 10_000 },
    );
  });

  it('recognizes output of JSON.stringify without escapes, long numbers and integer keys', () => {
    fc.assert(
      fc.property(json, (value) => {
        const given = JSON.stringify(value);
        const isHard = /\\|[,:[{]"\d+":|\d[eE]|(?:\d\.?){15}/.test(given);
        if (!isHard) expect(isKnown(given)).toBe(true);
        expect(isKnown(JSON.stringify([value], null, 1))).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '{}',
    '[]',
    '[[],{}]',
    '0',
    '100',
    '1000',
    '0.05',
    '0.000001',
    '999999999999999',
    '-0.05',
    '["1e2",100]',
    '{"a":[true,false,null,"é–😀"],"b":{"":"x","2fa":1}}',
  ])('recognizes %s', (given) => {
    expect(isKnown(given)).toBe(true);
  });

  it.each([
    '-0',
    '1e2',
    '1.0',
    '[1e3, 1]',
    '{"a":1,"0":1}',
    '{"a":1e9,"b":1,"b":1}',
    '"\\n"',
    '1e21',
    '1e-7',
    '0.1234567890123456',
    `${'['.repeat(513)}${']'.repeat(513)}`,
  ])('does not recognize %s', (given) => {
    expect(isKnown(given)).toBe(false);
  });

  it('lets readJson reject exactly the texts in which findProblem finds a problem', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (given, isLong) => {
        // A long text is scanned before it is parsed.
        const whole = isLong ? `["${'x'.repeat(70_000)}",${given}]` : given;
        let isRejected = false;
        try {
          readJson(Buffer.from(whole));
        } catch {
          isRejected = true;
        }
        expect(isRejected).toBe(findProblem(whole) !== undefined);
      }),
      { numRuns: 500 },
    );
  });
});
