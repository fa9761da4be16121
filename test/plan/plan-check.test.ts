import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { JsonValue } from '../../src/message/types.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { readDocument } from '../../src/plan/reading/read-document.ts';
import type { PlanFile } from '../../src/plan/rule.ts';

function planOf(value: JsonValue): PlanCheck {
  return new PlanCheck(readDocument([{ file: 'plan.json', value }]));
}

/** The kinds and pointers of what a message violates. */
function found(plan: PlanCheck, message: JsonValue): string[] {
  return plan.violations(message).map(({ kind, pointer }) => `${kind} ${pointer}`);
}

const properties = (schema: JsonValue): JsonValue => ({ type: 'object', properties: { properties: schema } });
const rule = (key: string, schema: JsonValue, version = 1): JsonValue => {
  return { key, type: 'TRACK', version, jsonSchema: properties(schema) };
};
const track = (event: string, of: JsonValue, context: JsonValue = {}): JsonValue => {
  return { type: 'track', event, userId: 'u', properties: of, context };
};
const SIGNUP = {
  type: 'object',
  required: ['plan'],
  properties: {
    plan: { enum: ['free', 'pro'] },
    'a/b': { type: 'integer' },
    address: { type: 'object', properties: { zip: { type: 'string', pattern: '^\\d+$' } } },
    items: { type: 'array', items: { properties: { sku: { type: 'string' } } } },
    free: { type: 'object' },
    at: { format: 'date-time' },
  },
};

const files = (...values: readonly (readonly [string, JsonValue])[]): readonly PlanFile[] =>
  values.map(([file, value]) => ({ file, value }));
const labels = (all: readonly PlanFile[]): unknown[] =>
  readDocument(all).rules.map(({ type, event, version }) => [type, event, version]);

const versioned = (version: JsonValue): JsonValue => ({ protocols: { event_version: version } });

describe('a tracking plan', () => {
  const plan = planOf({ rules: [rule('Signup', SIGNUP)] });

  it('accepts a message that follows it', () => {
    const message = track('Signup', {
      plan: 'pro',
      'a/b': 1,
      address: { zip: '1' },
      items: [{ sku: 's' }],
      free: { anything: 1 },
      at: '2026-11-28T00:00:00Z',
    });
    expect(found(plan, message)).toEqual([]);
  });

  it('shortens write keys in the values of violations', () => {
    const message = track('Signup', { plan: { writeKey: 'CANARY-1234' }, writeKey: 'CANARY-5678' });
    const violations = plan.violations(message);
    expect(violations).toMatchObject([{ found: { writeKey: '…1234' } }, { found: '…5678' }]);
    expect(JSON.stringify(violations)).not.toContain('CANARY');
  });

  it('names the kind and the JSON pointer of each violation', () => {
    const message = track('Signup', {
      'a/b': 1.5,
      address: { zip: 'x', zap: 1 },
      items: [{ sku: 's' }, { skew: 1 }],
      at: 'now',
      paln: 'pro',
    });
    expect(found(plan, message).toSorted()).toEqual([
      'format /properties/at',
      'missing /properties/plan',
      'pattern /properties/address/zip',
      'type /properties/a~1b',
      'unplanned-property /properties/address/zap',
      'unplanned-property /properties/items/1/skew',
      'unplanned-property /properties/paln',
    ]);
    expect(plan.violations(message).find(({ path }) => path === 'properties.paln')?.expected).toBe(
      'nothing (is "plan" meant?)',
    );
  });

  it('rejects an event that it does not have, and suggests a near one', () => {
    expect(plan.violations(track('Singup', {}))).toMatchObject([
      { kind: 'unplanned-event', expected: 'an event with a schema, such as "Signup"' },
    ]);
  });

  it('accepts types for which it has no rule', () => {
    expect(found(plan, { type: 'identify', userId: 'u', traits: { a: 1 } })).toEqual([]);
  });

  it('accepts unlisted properties only if the schema allows them', () => {
    for (const other of [true, { type: 'string' }]) {
      const open = planOf({ rules: [rule('A', { properties: { a: {} }, additionalProperties: other })] });
      expect(found(open, track('A', { b: 'text' }))).toEqual([]);
    }
    const closed = planOf({ rules: [rule('A', { properties: { a: {} }, additionalProperties: false })] });
    expect(found(closed, track('A', { b: 1 }))).toEqual(['unplanned-property /properties/b']);
    const patterns = planOf({ rules: [rule('A', { patternProperties: { '^x_': {} } })] });
    expect(found(patterns, track('A', { x_1: 1, y: 1 }))).toEqual(['unplanned-property /properties/y']);
  });

  it('collects the names of alternatives and of referred schemas', () => {
    const schema = {
      allOf: [{ properties: { a: {} } }, { $ref: '#/$defs/b' }],
      if: { properties: { c: { const: 1 } } },
      then: { properties: { d: {} } }, // oxlint-disable-line no-thenable -- a keyword of JSON Schema
      dependencies: { a: { properties: { f: {} } }, b: ['a'] },
    };
    const whole = {
      type: 'object',
      properties: { properties: schema },
      $defs: { b: { properties: { b: {} } } },
    };
    const plan2 = planOf({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema: whole }] });
    expect(found(plan2, track('A', { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }))).toEqual([
      'unplanned-property /properties/e',
    ]);
  });

  it('collects the names that must be there', () => {
    const schema = { required: ['a'], dependentRequired: { b: ['c'] } };
    expect(found(planOf({ rules: [rule('A', schema)] }), track('A', { a: 1, b: 1, c: 1, d: 1 }))).toEqual([
      'unplanned-property /properties/d',
    ]);
  });

  it('masks values whose name says that they are secrets', () => {
    const [hidden] = plan.violations(track('Signup', { plan: 'pro', password: 'hunter2' }));
    expect([hidden?.got, hidden?.found]).toEqual(['"***"', '***']);
  });

  it('takes a text on which a pattern is too slow for a violation, and says so', () => {
    const slow = planOf({ rules: [rule('A', { properties: { a: { pattern: '^(?=.)(a+)+$' } } })] });
    const [slowly] = slow.violations(track('A', { a: `${'a'.repeat(40)}!` }));
    expect(slowly).toMatchObject({
      kind: 'pattern',
      pointer: '/properties/a',
      expected: expect.stringContaining('takes too long') as string,
    });
    expect(found(slow, track('A', { a: 'aaa' }))).toEqual([]);
  });

  it('chooses the version that a message names, else the oldest', () => {
    const versions = planOf({
      rules: [rule('A', { properties: { two: {} } }, 2), rule('A', { properties: { one: {} } }, 1)],
    });
    expect(found(versions, track('A', { two: 1 }, versioned(2)))).toEqual([]);
    expect(found(versions, track('A', { one: 1 }))).toEqual([]);
    expect(found(versions, track('A', { one: 1 }, versioned(null)))).toEqual([]);
    for (const wrong of [3, '2', 1.5]) {
      expect(found(versions, track('A', { one: 1 }, versioned(wrong)))).toEqual([
        'version /context/protocols/event_version',
      ]);
    }
  });

  it('checks every message with a COMMON rule in addition, and pages with the rule Page Viewed', () => {
    const common = {
      key: null,
      type: 'COMMON',
      version: 1,
      jsonSchema: { required: ['messageId'], properties: { properties: { properties: { session: {} } } } },
    };
    const both = planOf({
      rules: [rule('Page Viewed', { required: ['url'], properties: { url: {} } }), common],
    });
    expect(found(both, { type: 'page', userId: 'u', properties: { session: 1 } })).toEqual([
      'missing /properties/url',
      'missing /messageId',
    ]);
    expect(found(both, { type: 'identify', messageId: 'm', traits: { a: 1 } })).toEqual([]);
  });
});

describe('the form of a plan', () => {
  it.each([
    ['rules of the Public API', { rules: [rule('A', {}, 2)] }],
    ['a response of the Public API', { data: { rules: [rule('A', {}, 2)] } }],
    ['a list of rules', [rule('A', {}, 2)]],
    ['rules of the Config API', { rules: { events: [{ name: 'A', version: 2, rules: properties({}) }] } }],
  ])('is recognized for %s', (_what, value) => {
    expect(labels(files(['p.json', value]))).toEqual([['track', 'A', 2]]);
  });

  it('is recognized for a folder of schemas, whose events are in the metadata, the title or the name', () => {
    const found2 = labels(
      files(
        ['s/a.json', { eventMetadata: { name: 'A b', type: 'TRACK', version: 3 }, properties: {} }],
        ['s/b.json', { title: 'B c', properties: { properties: {} } }],
        ['s/order_done.v2.json', { type: 'object', properties: {} }],
        ['s/identify.json', { type: 'object', properties: { traits: {} } }],
        ['s/visit.json', { title: 'Visit', properties: { context: { type: 'string' }, total: {} } }],
      ),
    );
    expect(found2).toEqual([
      ['track', 'A b', 3],
      ['track', 'B c', 1],
      ['track', 'order_done', 2],
      ['identify', undefined, 1],
      ['track', 'Visit', 1],
    ]);
  });

  it('wraps a schema of the properties alone, which Typewriter marks by eventMetadata', () => {
    const jsonSchema = {
      eventMetadata: { name: 'A' },
      labels: {},
      type: 'object',
      required: ['id'],
      properties: { id: { id: '/properties/id', type: 'string' }, any: { type: 'any' } },
    };
    const plan = planOf({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema }] });
    expect(found(plan, track('A', { id: 's', any: 5 }))).toEqual([]);
    expect(found(plan, track('A', { id: 5, labels: 1 }))).toEqual([
      'type /properties/id',
      'unplanned-property /properties/labels',
    ]);
    expect(found(plan, { type: 'track', event: 'A', userId: 'u' })).toEqual(['missing /properties']);
  });

  it('reads the traits that the Config API lists one by one', () => {
    const plan = planOf({
      rules: { identify_traits: [{ name: 'plan', schema: { type: 'string' } }] },
    });
    expect(found(plan, { type: 'identify', traits: { plan: 5, plna: 1 } })).toEqual([
      'type /traits/plan',
      'unplanned-property /traits/plna',
    ]);
  });

  it('names all problems of a plan with rule and place', () => {
    const rules = [
      { key: '', type: 'TRACK', jsonSchema: {} },
      { key: 'B', type: 'TRACKS', jsonSchema: {} },
      { key: 'C', type: 'TRACK', version: 0, jsonSchema: {} },
      { key: 'D', type: 'TRACK', version: 1, jsonSchema: 'x' },
      rule('E', {}),
      rule('E', {}),
    ];
    expect(() => readDocument(files(['p.json', { rules }]))).toThrow(
      /got 5 problems: \(1\) .*`key`.* \(\/rules\/0\); \(2\) .*`type`.*\/rules\/1.*\(5\) .*track "E", got two \(\/rules\/4, \/rules\/5\)/,
    );
  });

  it('names all rules that do not compile', () => {
    const bad = { rules: [rule('A', { type: 'strnig' }), rule('B', { pattern: '[' })] };
    expect(() => planOf(bad)).toThrow(InputError);
    expect(() => planOf(bad)).toThrow(/2 problems.*track "A" \(\/rules\/0\).*track "B" \(\/rules\/1\)/);
  });
});

it('reports a message that the validator cannot compare', () => {
  const plan = planOf({ rules: [rule('A', { properties: { one: { enum: [{ a: 1 }] } } })] });
  expect(plan.violations(track('A', { one: { toString: 1 } }))).toMatchObject([
    { kind: 'other', expected: 'a value that has no property named toString or valueOf' },
  ]);
});

it('checks each pattern of a schema', () => {
  const plan = planOf({ rules: [rule('A', { properties: { a: { pattern: '^a' }, b: { pattern: '^b' } } })] });
  expect(found(plan, track('A', { a: 'a', b: 'b' }))).toEqual([]);
  expect(found(plan, track('A', { a: 'b', b: 'a' }))).toEqual([
    'pattern /properties/a',
    'pattern /properties/b',
  ]);
});

it('compares the items of a list by their JSON, in any order of keys', () => {
  const plan = planOf({ rules: [rule('A', { properties: { list: { uniqueItems: true } } })] });
  const listed = (...list: readonly JsonValue[]): string[] => found(plan, track('A', { list }));
  expect(listed({ a: 1, b: [2] }, { b: [2], a: 1 })).toEqual(['other /properties/list']);
  expect(listed({ toString: 1 }, { toString: 1 })).toEqual(['other /properties/list']);
  expect(listed({ a: 1 }, { a: 2 }, '1', 1, [], {}, [['a', 1]], null)).toEqual([]);
});

it('describes few of thousands of errors', () => {
  const plan = planOf({ rules: [rule('A', { properties: { list: { items: { type: 'string' } } } })] });
  expect(found(plan, track('A', { list: Array.from({ length: 14_000 }, () => 0) }))).toHaveLength(10);
});
