import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/errors.ts';
import { failing, readConditions, readFilter } from '../../src/message/filter.ts';
import type { JsonValue } from '../../src/message/types.ts';

/** Each alone. */
function expectEach(message: JsonValue, holds: boolean, flags: readonly string[]): void {
  for (const flag of flags) expect(readFilter([flag])(message), flag).toBe(holds);
}

describe('a filter', () => {
  const signup = {
    type: 'track',
    event: 'Signup, again',
    properties: { plan: 'pro', total: 5, 'a.b': { c: null }, items: [{ sku: 'A1' }] },
    __proto__: null,
  };

  it('holds if all conditions of all flags hold', () => {
    expect(readFilter(['type=track,properties.plan=pro'])(signup)).toBe(true);
    expect(readFilter(['type=track', 'properties.plan=free'])(signup)).toBe(false);
    expect(readFilter([])(signup)).toBe(true);
  });

  it('compares values of any type as text', () => {
    expectEach(signup, true, [
      'properties.total=5',
      'properties.a.b.c=null',
      'properties.items.0.sku=A1',
      'event=Signup\\, again',
    ]);
    expect(readFilter(['properties.total=5.0'])(signup)).toBe(false);
  });

  it('matches different and missing values with !=', () => {
    expect(readFilter(['type!=page,nothing.here!=x'])(signup)).toBe(true);
    expectEach(signup, false, ['type!=track', 'nothing=x']);
  });

  it('reads own fields only', () => {
    expect(readFilter(['constructor.name!=Object'])({ type: 'track' })).toBe(true);
    expect(readFilter(['type=x'])(null)).toBe(false);
  });

  it('matches one key with `*`, and any number of keys with `**`', () => {
    const message = {
      properties: {
        plan: 'pro',
        user: { email: 'a@b.c', 'x.y': { z: [1, 2] } },
        items: [{ sku: 'A1' }, { sku: 'B2' }],
      },
    };
    expectEach(message, true, [
      'properties.**.email?',
      'properties.**.plan=pro',
      'properties.*.email~@',
      'properties.**~@',
      '**~@',
      '**.z.1=2',
      '*.user.x.y.*.0=1',
      'properties.items.*.sku=B2',
      '**.items.**.sku=B2',
      'properties.items.*.price!?',
      'properties.**.price!=5',
      'nothing.*!=x',
    ]);
    expectEach(message, false, [
      'properties.**.email!?',
      'properties.items.*.sku!=B2',
      'properties.*=a@b.c',
      'properties.**~:',
      'properties.plan.*?',
      'nothing.**~x',
      'properties.pl*?',
    ]);
    expect(failing(readConditions('properties.**!=a@b.c'), message)).toMatchObject([
      { path: 'properties.user.email', found: 'a@b.c' },
    ]);
  });

  it('searches deep and wide messages in linear time and without recursion', () => {
    let deep: JsonValue = 'end';
    for (let depth = 0; depth < 20_000; depth++) deep = { a: deep };
    expect(readFilter(['**.a.**.a.**.a.**=end'])(deep)).toBe(true);
    expect(readFilter(['**=x'])(Array.from({ length: 300_000 }, (_, index) => index))).toBe(false);
  });

  it('is rejected if it is malformed', () => {
    for (const flag of ['', 'type', '=track', 'type=track,=x', '!=x']) {
      expect(() => readFilter([flag]), flag).toThrow('Expected `--filter` to be path=value');
    }
  });

  it('is rejected if the text after a comma is not a condition', () => {
    for (const flag of ['type=track,', 'event=A,B', 'event=A,B,type=track', 'event~^.{1,3}$']) {
      expect(() => readFilter([flag]), flag).toThrow(
        'Expected a condition after the comma in `--filter`, got',
      );
    }
    expect(readFilter(['event=A\\,B'])({ event: 'A,B' })).toBe(true);
  });

  it('is rejected if two conditions need different values at one path', () => {
    for (const flags of [['event=A,event=B'], ['event=A', 'type=track,event=B']]) {
      expect(() => readFilter(flags), flags.join(' ')).toThrow(
        'Expected one value of `event` in `--filter`, got event=A and event=B',
      );
    }
    expect(() => readFilter(['writeKey=canary-one,writeKey=canary-two'])).not.toThrow(/canary/);
    const items = { items: [{ sku: 'A' }, { sku: 'B' }] };
    expect(readFilter(['items.*.sku=A,items.*.sku=B'])(items)).toBe(true);
    expect(readFilter(['event=A,event=A,event!=B'])({ event: 'A' })).toBe(true);
  });

  it('compares numbers, and never matches a number in a string', () => {
    expectEach(signup, true, [
      'properties.total>4',
      'properties.total>=5',
      'properties.total<5.5',
      'properties.total<=5e0',
    ]);
    expectEach(signup, false, ['properties.total>5', 'properties.total<5', 'nothing>0', 'properties.plan>0']);
    expect(readFilter(['total>1'])({ total: '5' })).toBe(false);
  });

  it('compares times: timestamps, days, and now', () => {
    const message = {
      timestamp: '2026-11-20T21:10:05.123Z',
      sentAt: new Date(Date.now() - 60_000).toISOString(),
    };
    expectEach(message, true, [
      'timestamp>2026-11-20',
      'timestamp<=2026-11-20T22:10:05.123+01:00',
      'sentAt<now',
      'sentAt>now-1h',
    ]);
    expectEach(message, false, ['timestamp>2026-11-21', 'sentAt>now', 'sentAt<now-1h', 'nothing<now']);
  });

  it('searches a value for a regular expression', () => {
    expectEach(signup, true, ['event~^Sign', 'event~up\\, a', 'properties.total~^5$']);
    expectEach(signup, false, ['event~^up', 'nothing~.*']);
  });

  it('tests whether a value exists, and treats null as missing', () => {
    expectEach(signup, true, ['event?', 'properties.total?', 'nothing!?', 'properties.a.b.c!?']);
    expectEach(signup, false, ['nothing?', 'event!?', 'properties.a.b.c?']);
  });

  it.each([
    'type==track',
    'type=~x',
    'total=>5',
    'type<>5',
    'type!~x',
    'type!==x',
    'type~=x',
    'type!x',
    'a.b==',
    '?',
    'type:track',
  ])('is rejected with the list of operators for %s', (flag) => {
    const error = errorOf(() => readConditions(flag, '--match'));
    expect(error?.hint).toContain('Operators: = != > < >= <= ~REGEX ? (present) !? (absent)');
  });

  it.each([
    ['total>many', 'Expected a number or a time'],
    ['total>', 'Expected a number or a time'],
    ['total>now-1', 'Expected a number or a time'],
    ['event~[', 'Expected a regular expression after `~` in `--match`, got event~['],
    ['event?x', 'Expected nothing after `?` in `--match`, got event?x'],
  ])('is rejected for a value that its operator does not accept: %s', (flag, sentence) => {
    expect(errorOf(() => readConditions(flag, '--match'))?.message).toContain(sentence);
  });

  it('accepts a value that begins like an operator, after a backslash if it is ambiguous', () => {
    expect(readFilter(['q=<&">', 'r=!', 's!=?'])({ q: '<&">', r: '!' })).toBe(true);
    expect(readFilter(['q=\\=1'])({ q: '=1' })).toBe(true);
  });

  it('returns the conditions that do not hold, with the actual values', () => {
    const unmet = failing(readConditions('type=track,properties.total>9,nothing?'), signup);
    expect(unmet).toMatchObject([
      { path: 'properties.total', operator: '>', value: '9', found: 5 },
      { path: 'nothing', operator: '?', found: undefined },
    ]);
  });
});

function errorOf(run: () => unknown): ConfigError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
}
