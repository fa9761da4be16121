import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toPlain } from '../../src/message/plain.ts';
import { json } from './arbitraries.ts';

const plain = (value: unknown): unknown => {
  const reading = toPlain(value, 'properties');
  return reading.ok ? reading.value : expect.unreachable(reading.problem.sentence);
};

describe('toPlain', () => {
  it('returns a plain value without copying it', () => {
    fc.assert(fc.property(json, (value) => Object.is(plain(value), value)));
  });

  it('converts values like JSON.stringify', () => {
    class Money {
      readonly #secret = 1;
      readonly amount = 5;
      toJSON(): object {
        return { amount: this.amount + this.#secret, at: new Date(0) };
      }
    }
    const value = {
      date: new Date(0),
      url: new URL('https://a.example/x'),
      money: [new Money()],
      none: undefined,
      holes: [undefined, , 1], // eslint-disable-line no-sparse-arrays -- the test needs a hole
      bare: Object.assign(Object.create(null) as object, { a: 1 }),
      own: JSON.parse('{"__proto__":{"x":[1]},"d":1}') as object,
      bytes: Buffer.from('hi'),
    };
    expect(JSON.stringify(plain(value))).toBe(JSON.stringify(value));
  });

  it('keeps a __proto__ key when it copies', () => {
    const copy = plain({ ...(JSON.parse('{"__proto__":{"x":1}}') as object), at: new Date(0) });
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"x":1},"at":"1970-01-01T00:00:00.000Z"}');
  });

  it('accepts one object in two places', () => {
    const shared = { at: new Date(0) };
    expect(plain({ a: shared, b: [shared] })).toEqual({
      a: { at: '1970-01-01T00:00:00.000Z' },
      b: [{ at: '1970-01-01T00:00:00.000Z' }],
    });
  });

  const circle: Record<string, unknown> = { deep: {} };
  (circle['deep'] as Record<string, unknown>)['back'] = [circle];

  it.each([
    ['a BigInt', { a: [1, { b: 10n }] }, 'properties.a[1].b', 'the BigInt 10'],
    ['NaN', { a: Number.NaN }, 'properties.a', 'NaN'],
    ['Infinity', [-Infinity], 'properties[0]', '-Infinity'],
    ['a function', { 'on click': () => 1 }, 'properties["on click"]', 'a function'],
    ['a symbol', { a: Symbol('x') }, 'properties.a', 'a symbol'],
    ['an invalid Date', { a: new Date(Number.NaN) }, 'properties.a', 'an invalid Date'],
    ['a Map', { a: new Map([[1, 2]]) }, 'properties.a', 'an object of type Map'],
    ['a Set', { a: new Set([1]) }, 'properties.a', 'an object of type Set'],
    ['an Error', { a: new Error('x') }, 'properties.a', 'an object of type Error'],
    ['a typed array', { a: new Uint8Array(2) }, 'properties.a', 'an object of type Uint8Array'],
    ['a circle', circle, 'properties.deep.back[0]', 'an object', 'an object that does not contain itself'],
  ])('rejects %s with its path', (_, value, path, got, expected = 'a value that JSON can carry') => {
    const sentence = `Expected \`${path}\` to be ${expected}`;
    const problem = { path, sentence, got, hint: expect.any(String) as string };
    expect(toPlain(value, 'properties')).toMatchObject({ ok: false, problem });
  });

  it('allows 512 levels, of which the message is one', () => {
    expect(toPlain(nested(511, 1), 'a').ok).toBe(true);
    expect(toPlain(nested(511, new Date(0)), 'a').ok).toBe(true);
    expect(toPlain(nested(512, 1), 'a')).toMatchObject({ ok: false, problem: { got: 'an object' } });
    expect(toPlain(nested(511, {}), 'a').ok).toBe(false);
    expect(toPlain(nested(100_000, 1), 'a').ok).toBe(false);
  });
});

function nested(levels: number, innermost: unknown): unknown {
  let value = innermost;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}
