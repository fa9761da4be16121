import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readJson } from '../../../src/message/json/read-json.ts';
import { findFault } from '../../../src/message/json/find-fault.ts';
import { shortestLength } from '../../../src/message/json/shortest-text.ts';
import type { JsonValue } from '../../../src/message/types.ts';
import { json } from '../arbitraries.ts';

const lengthOf = (text: string): number => shortestLength(JSON.parse(text) as JsonValue);

const digits = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom('0', '0', '1', '5', '9'), minLength: 1, maxLength });

/** Numbers in any spelling: zeros at either end, exponents, more digits than fit, too large, too small. */
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

/** Texts as no JSON.stringify writes them: keys that come twice, any spelling of numbers, escapes, white space. */
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

describe('the shortest text of a value', () => {
  it('is longer than no text of it, and as long only as those that lose nothing', () => {
    fc.assert(
      fc.property(text, (given) => {
        const length = lengthOf(given);
        expect(length > given.length).toBe(false);
        if (length === given.length) expect(findFault(given)).toBeUndefined();
      }),
      { numRuns: 3000 },
    );
  });

  it('is longer than no text of what JSON.stringify writes', () => {
    fc.assert(
      fc.property(json, fc.nat(1), (value, space) => {
        const given = JSON.stringify(value, null, space);
        expect(lengthOf(given) > given.length).toBe(false);
      }),
    );
  });

  it.each([
    '{}',
    '[]',
    '[[],{}]',
    '0',
    '-1',
    '1500',
    '999999999999999',
    '129.95',
    '-0.05',
    '{"a":[true,false,null,"é–😀"],"b":{"":"x"}}',
  ])('is that of %s', (given) => {
    expect(lengthOf(given)).toBe(given.length);
  });

  it.each(['1000', '0.005', '1e21', '0.1234567890123456', `${'['.repeat(513)}${']'.repeat(513)}`])(
    'is not known of %s',
    (given) => {
      expect(lengthOf(given)).toBeNaN();
    },
  );

  it('lets readJson refuse exactly what the walk through the text finds at fault', () => {
    fc.assert(
      fc.property(text, fc.boolean(), (given, isLong) => {
        // A long text is scanned before it is parsed.
        const whole = isLong ? `["${'x'.repeat(70_000)}",${given}]` : given;
        let isRefused = false;
        try {
          readJson(Buffer.from(whole));
        } catch {
          isRefused = true;
        }
        expect(isRefused).toBe(findFault(whole) !== undefined);
      }),
      { numRuns: 500 },
    );
  });
});
