import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignAll } from '../../../../src/cli/flags/message/assignments.ts';
import { ConfigError } from '../../../../src/errors.ts';

/** Assigns the words and returns plain objects, because assigned ones have no prototype. */
function assigned(words: readonly string[], base = {}): unknown {
  return JSON.parse(JSON.stringify(assignAll(words, '-p', base)));
}

function errorOf(word: string, ...before: readonly string[]): ConfigError {
  try {
    assignAll([...before, word], '--property');
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('Expected an error');
}

describe('a value', () => {
  it.each([
    ['plan=pro', 'pro'],
    ['n=12.5', 12.5],
    ['n=-0.5e3', -500],
    ['on=true', true],
    ['none=null', null],
    ['list=[1,"a"]', [1, 'a']],
    ['object={"a":{"b":1}}', { a: { b: 1 } }],
    ['quoted="a b"', 'a b'],
    ['empty=', ''],
    ['zip=01234', '01234'],
    ['url=https://a.example/?b=c', 'https://a.example/?b=c'],
    ['time=10:30', '10:30'],
    ['text=two\nlines', 'two\nlines'],
    ['zip==12345', '12345'],
    ['word==true', 'true'],
    ['sum==a=b', 'a=b'],
    ['tags:=["a"]', ['a']],
    ['text:="a"', 'a'],
    ['broken={', '{'],
  ])('is read from %j', (word, value) => {
    const key = /^\w+/.exec(word)?.[0] ?? '';
    expect(assigned([word])).toEqual({ [key]: value });
  });

  it('must be JSON after :=', () => {
    const { message, hint } = errorOf('tags:=[a]');
    expect(message).toBe('Expected `--property tags` to be JSON after `:=`, got "[a]"');
    expect(hint).toBe('quote it for your shell, or use = for text');
  });

  it.each([
    ['id=12345678901234567890', '12345678901234567890'],
    ['id=1e400', '1e400'],
    ['o={"a":1,"a":2}', '`a` twice'],
  ])('%s is rejected with a hint if JSON parsing would change it', (word, told) => {
    const { message, hint } = errorOf(word);
    expect(message).toContain(told);
    expect(hint).toMatch(/^write --property \w+==… to send it as text$/);
  });
});

describe('a path', () => {
  it.each([
    ['cart.total=1', { cart: { total: 1 } }],
    ['a.b.c=1', { a: { b: { c: 1 } } }],
    [String.raw`a\.b.c=1`, { 'a.b': { c: 1 } }],
    [String.raw`a\=b=c`, { 'a=b': 'c' }],
    [String.raw`a\\b=c`, { [String.raw`a\b`]: 'c' }],
    ['a..b=1', { a: { '': { b: 1 } } }],
    ['two words=1', { 'two words': 1 }],
    ['a:b=1', { 'a:b': 1 }],
    ['Łódź.茶=1', { Łódź: { 茶: 1 } }],
  ])('%j builds objects', (word, value) => {
    expect(assigned([word])).toEqual(value);
  });

  it('adds to existing objects, and the last word wins', () => {
    expect(assigned(['a.b=1', 'a.c=2', 'a.b=3'], { a: { d: 4 }, e: 5 })).toEqual({
      a: { b: 3, c: 2, d: 4 },
      e: 5,
    });
  });

  it('leaves its base unchanged', () => {
    const base = { a: { b: 1 } };
    assignAll(['a.b=2'], '-p', base);
    expect(base).toEqual({ a: { b: 1 } });
  });

  it('does not change a prototype', () => {
    const value = assignAll(['__proto__.polluted=1', 'constructor.prototype.polluted=1'], '-p');
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('keeps the keys of an object given as JSON', () => {
    const value = assignAll(
      ['a={}', 'a.__proto__.x=1', 'a.constructor.y=2', 'b={"c":{}}', 'b.c.__proto__=3'],
      '-p',
    );
    expect(JSON.stringify(value)).toBe(
      '{"a":{"__proto__":{"x":1},"constructor":{"y":2}},"b":{"c":{"__proto__":3}}}',
    );
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it('cannot lead into a value that is not an object', () => {
    const { message, hint } = errorOf('a.b=2', 'a=1');
    expect(message).toBe('`--property a.b=2` sets a key within `a`, which already has a value');
    expect(hint).toBe('give the key either a value or keys of its own');
  });
});

it.each(['plan', '', '=1', ':=1', '==a'])('rejects %j, which has no key or no value', (word) => {
  const { message, hint } = errorOf(word);
  expect(message).toBe(`Expected \`--property\` to be key=value, got ${JSON.stringify(word)}`);
  expect(hint).toContain('--property plan=pro');
});

it('== keeps any text, and := keeps any JSON', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.jsonValue({ noUnicodeString: false }), (text, json) => {
      expect(assignAll([`key==${text}`], '-p')['key']).toBe(text);
      // Serialized once, because JSON writes -0 as 0.
      const spelled = JSON.stringify(json);
      expect(JSON.stringify(assignAll([`key:=${spelled}`], '-p')['key'])).toBe(
        JSON.stringify(JSON.parse(spelled)),
      );
    }),
    { numRuns: 200 },
  );
});
