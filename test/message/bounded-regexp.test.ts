import { describe, expect, it } from 'vitest';
import { boundedRegExp, isLinear } from '../../src/message/bounded-regexp.ts';
import { readFilter } from '../../src/message/filter.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { planOfSchemas } from '../../src/plan/plan.ts';

const event = `${'a'.repeat(40)}!`;

/** Patterns and texts that take hours without a time limit: a test that ends shows that there is one. */
describe('a regular expression on untrusted text', () => {
  it('is tested in linear time, in filters and schemas', () => {
    expect(readFilter(['event~(a+)+$'])({ event })).toBe(false);
    expect(readFilter(['event~^(a+)+!$'])({ event })).toBe(true);
    const schemas = new PlanCheck(
      planOfSchemas({ track: { pattern: 'x' }, [event]: ofEvent('^(a+)+$') }, 'f'),
    );
    expect(schemas.violations({ type: 'track', event })).toMatchObject([{ path: 'event' }]);
  });

  it.each([
    ['a look-around', '(?=a)(a+)+$', ''],
    ['a back reference', '^(a)(a+)+\\1b$', ''],
    ['a Unicode property', '^(\\p{L}+)+$', 'u'],
  ] as const)('is stopped where %s keeps it from linear time', (_what, source, flags) => {
    const pattern = boundedRegExp(source, flags);
    expect(() => pattern.test(event)).toThrow(/The regular expression .* takes more than 1s on "aaa/);
    // Further texts would take a second each.
    expect(() => pattern.test(event)).toThrow('takes more than 100ms on');
    expect(pattern.test('a')).toBe(new RegExp(source, flags).test('a'));
  });

  it('knows Unicode properties in filters, but not in linear time', () => {
    expect(readFilter(['event~^\\p{Lu}+$'])({ event: 'ÄB' })).toBe(true);
    expect(readFilter(['event~\\p{Lu}'])({ event: 'p{Lu}'.toLowerCase() })).toBe(false);
    expect(readFilter(['event~\\\\p'])({ event: '\\p' })).toBe(true);
    expect([isLinear('\\p{Lu}'), isLinear('p{Lu}'), isLinear('\\\\p')]).toEqual([false, true, true]);
  });

  it.each(['^.$', '^\\p{Lu}', '^[^a]{1,2}$', '[😀]', '^(?!Test)', '\\u{1F600}', '^.{1,255}$'])(
    'matches like a plain RegExp: %s',
    (source) => {
      for (const text of ['😀', 'É', 'a', 'bb', 'Test', '', '\ud83d']) {
        expect(boundedRegExp(source, 'u').test(text), text).toBe(new RegExp(source, 'u').test(text));
      }
    },
  );
});

function ofEvent(pattern: string): { properties: { event: { pattern: string } } } {
  return { properties: { event: { pattern } } };
}
