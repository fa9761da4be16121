import { expect, it } from 'vitest';
import type { JsonValue } from '../../src/message/types.ts';
import { comparePlans } from '../../src/plan/comparison/compare-plans.ts';
import { readDocument } from '../../src/plan/reading/read-document.ts';
import type { PlanDocument } from '../../src/plan/rule.ts';

function planOf(...rules: readonly JsonValue[]): PlanDocument {
  return readDocument([{ file: 'p.json', value: { rules } }]);
}

const rule = (key: string, schema: JsonValue, version = 1): JsonValue => {
  return { key, type: 'TRACK', version, jsonSchema: { properties: { context: {}, properties: schema } } };
};

/** The changes from one schema of an event's properties to another. */
function changes(before: JsonValue, after: JsonValue): string[] {
  return comparePlans(planOf(rule('A', before)), planOf(rule('A', after))).map(
    ({ change, path, what }) => `${change} ${path} ${what}`,
  );
}

const one = (schema: JsonValue, required: readonly string[] = []): JsonValue => {
  return { properties: { a: schema }, required };
};

it.each<[string, JsonValue, JsonValue, string[]]>([
  [
    'a new property where any was accepted',
    { properties: {}, additionalProperties: true },
    { properties: { b: { type: 'string' } }, additionalProperties: true },
    ['breaking properties.b is checked now'],
  ],
  [
    'a property that is gone where any is accepted',
    { properties: { b: { type: 'string' } }, additionalProperties: true },
    { properties: {}, additionalProperties: true },
    ['compatible properties.b is no longer checked'],
  ],
  [
    'items of a list that were free',
    one({ type: 'array' }),
    one({ type: 'array', items: { type: 'string' } }),
    ['breaking properties.a[] is checked now'],
  ],
  [
    'names that matched a pattern',
    { properties: {}, patternProperties: { '^x': {} } },
    { properties: {} },
    ['breaking properties no longer has `patternProperties`'],
  ],
  [
    'a type in place of its values',
    one({ enum: ['x', 'y'] }),
    one({ type: 'string' }),
    ['compatible properties.a allows any value now'],
  ],
  [
    'a finer step',
    one({ multipleOf: 4 }),
    one({ multipleOf: 2 }),
    ['compatible properties.a has `multipleOf` 2, not 4'],
  ],
  ['equal schemas', one({ type: 'string' }), one({ type: 'string' }), []],
  ['notes', one({ description: 'x', id: '/a' }), one({ description: 'y' }), []],
  ['a new property', {}, one({ type: 'string' }), ['compatible properties.a is new']],
  ['a new required property', {}, one({}, ['a']), ['breaking properties.a is new and required']],
  ['a property that is gone', one({ properties: { b: {} } }), {}, ['breaking properties.a is gone']],
  ['a property that is required now', one({}), one({}, ['a']), ['breaking properties.a is required now']],
  ['a property that is optional now', one({}, ['a']), one({}), ['compatible properties.a is optional now']],
  [
    'a required property that is not listed',
    {},
    { required: ['z'] },
    ['breaking properties.z is new and required'],
  ],
  [
    'other properties that were allowed',
    { properties: {}, additionalProperties: true },
    { properties: {} },
    ['breaking properties allows no other properties now'],
  ],
  [
    'a property listed in an object that was free',
    one({ type: 'object' }),
    one({ type: 'object', properties: { b: {} } }),
    ['breaking properties.a allows no other properties now', 'compatible properties.a.b is new'],
  ],
  [
    'fewer types',
    one({ type: ['string', 'null'] }),
    one({ type: 'string' }),
    ['breaking properties.a no longer allows the type null'],
  ],
  [
    'number instead of integer',
    one({ type: 'integer' }),
    one({ type: 'number' }),
    ['compatible properties.a allows the type number now'],
  ],
  [
    'integer instead of number',
    one({ type: 'number' }),
    one({ type: 'integer' }),
    ['breaking properties.a no longer allows the type number'],
  ],
  [
    'a type at all',
    one({}),
    one({ type: 'string' }),
    ['breaking properties.a allows only the types string now'],
  ],
  [
    'no type any more',
    one({ type: 'string' }),
    one({ type: 'any' }),
    ['compatible properties.a allows any type now'],
  ],
  [
    'values gone and new',
    one({ enum: ['x', 'y'] }),
    one({ enum: ['y', 'z'] }),
    ['breaking properties.a no longer allows the value "x"'],
  ],
  [
    'more values',
    one({ const: 'x' }),
    one({ enum: ['x', 'y'] }),
    ['compatible properties.a allows the value "y" now'],
  ],
  [
    'no other properties, which a plan does not allow without the keyword either',
    one({}),
    { ...(one({}) as object), additionalProperties: false },
    [],
  ],
  ['a pattern', one({}), one({ pattern: '^a' }), ['breaking properties.a has `pattern` "^a" now']],
  ['no pattern', one({ pattern: '^a' }), one({}), ['compatible properties.a no longer has `pattern`']],
  [
    'a higher maximum',
    one({ maximum: 1 }),
    one({ maximum: 2 }),
    ['compatible properties.a has `maximum` 2, not 1'],
  ],
  [
    'a higher minimum',
    one({ minimum: 1 }),
    one({ minimum: 2 }),
    ['breaking properties.a has `minimum` 2, not 1'],
  ],
  [
    'items of a list',
    one({ items: { properties: { 'a b': {} } } }),
    one({ items: { properties: { c: {} } } }),
    ['breaking properties.a[]."a b" is gone', 'compatible properties.a[].c is new'],
  ],
])('compares schemas: %s', (_what, before, after, expected) => {
  expect(changes(before, after)).toEqual(expected);
});

it('compares rules by type, event and version', () => {
  const identify = { key: null, type: 'IDENTIFY', version: 1, jsonSchema: {} };
  const found = comparePlans(
    planOf(rule('A', {}), rule('B', {})),
    planOf(rule('B', {}), rule('B', {}, 2), identify),
  );
  expect(found.map(({ change, rule: { event, version }, what }) => [change, event, version, what])).toEqual([
    ['breaking', undefined, 1, 'is new'],
    ['breaking', 'A', 1, 'is gone'],
    ['compatible', 'B', 2, 'is new'],
  ]);
});

it('reports that a plan lists all properties, if the old one lists none', () => {
  const schema = { type: 'object', properties: { properties: { properties: { a: {} } } } };
  const free = readDocument([{ file: 'p.json', value: { A: schema } }]);
  const strict = planOf({ key: 'A', type: 'TRACK', version: 1, jsonSchema: schema });
  const found = comparePlans(free, strict).map(({ change, path }) => `${change} ${path}`);
  expect(found).toEqual(['breaking properties']);
  expect(comparePlans(strict, free).map(({ change }) => change)).toEqual(['compatible']);
});

it.each<[string, PlanDocument, PlanDocument, string]>([
  [
    'an older version',
    planOf(rule('A', {}, 2)),
    planOf(rule('A', {}, 2), rule('A', {}, 1)),
    'breaking is new, and checks messages that name no version',
  ],
  ['a newer version', planOf(rule('A', {})), planOf(rule('A', {}), rule('A', {}, 2)), 'compatible is new'],
  [
    'Page Viewed',
    planOf(rule('A', {})),
    planOf(rule('A', {}), rule('Page Viewed', {})),
    'breaking is new, and checks page calls too',
  ],
])('finds out whether a new rule checks messages that were accepted: %s', (_what, before, after, change) => {
  expect(comparePlans(before, after).map((each) => `${each.change} ${each.what}`)).toEqual([change]);
});
