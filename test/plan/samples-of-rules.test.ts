import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/message/types.ts';
import { compilePlan, planSamples, type PlanDocument } from '../../src/plan/plan.ts';

const planOf = (properties: JsonValue, more: JsonObject = {}): PlanDocument => ({
  rules: [
    {
      type: 'track',
      event: 'A',
      version: 1,
      schema: { type: 'object', properties: { properties }, required: ['properties'], ...more },
      file: 'plan.json',
      pointer: '',
    },
  ],
  listsProperties: true,
  listsEvents: true,
});

const object = (schema: JsonValue): JsonObject => ({
  type: 'object',
  properties: { a: schema },
  required: ['a'],
});

async function sampleOf(schema: JsonValue, more?: JsonObject): Promise<unknown> {
  const [sample] = await planSamples(planOf(object(schema), more));
  const { a } = (sample?.message?.['properties'] ?? {}) as JsonObject; // by the plan
  return sample?.violations ?? a;
}

/** Schemas that some value matches. */
const leaf: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.constantFrom<JsonObject>(
    {},
    { type: 'boolean' },
    { type: ['null', 'string'] },
    { type: 'null' },
    { const: { a: [1] } },
    { enum: [null, 'b', 2] },
    { type: 'string', format: 'date-time', minLength: 5 },
    { type: 'string', format: 'uuid' },
    { type: 'string', format: 'ipv6' },
    { type: 'string', pattern: '^order_\\d+$' },
    { type: 'string', pattern: '^[A-Z]{3}$' },
    { type: 'string', pattern: '^(?:card|cash)$' },
    { type: 'string', pattern: '^[0-9a-f]{24}$' },
    { type: 'number', exclusiveMinimum: 0.2, maximum: 0.4 },
    { type: 'integer', exclusiveMinimum: 7, multipleOf: 5 },
  ),
  fc
    .record({ minimum: fc.integer({ min: -99, max: 99 }), span: fc.nat(9) })
    .map(({ minimum, span }) => ({ type: 'integer', minimum, maximum: minimum + span })),
  fc
    .record({ minLength: fc.nat(30), span: fc.nat(9) })
    .map(({ minLength, span }) => ({ type: 'string', minLength, maxLength: minLength + span })),
);

const { schema: schemas } = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc
      .dictionary(fc.string({ minLength: 1 }), tie('schema'), { maxKeys: 3 })
      .map((properties) => ({ type: 'object', properties, required: Object.keys(properties).slice(0, 1) })),
    fc.record({ items: tie('schema'), minItems: fc.nat(3) }).map((list) => ({ type: 'array', ...list })),
    tie('schema').map((schema) => ({ allOf: [schema, {}] })),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf) => ({ anyOf })),
    tie('schema').map((schema) => ({ $defs: { a: schema }, allOf: [schema] })),
  ),
}));

it('makes a message that follows the plan, and the same one each time', async () => {
  await fc.assert(
    fc.asyncProperty(schemas, async (schema) => {
      const plan = planOf(object(schema));
      const [sample] = await planSamples(plan);
      const check = await compilePlan(plan);
      expect(sample?.violations).toBeUndefined();
      expect(check.violations(sample?.message ?? null)).toEqual([]);
      expect(await planSamples(plan)).toEqual([sample]);
    }),
    { numRuns: 60 },
  );
});

it.each<[string, JsonValue, unknown]>([
  [
    'a list of different items',
    { type: 'array', items: { type: 'string' }, minItems: 2, uniqueItems: true },
    ['text', 'text1'],
  ],
  ['each item of a tuple', { type: 'array', items: [{ type: 'integer' }, { const: 'b' }] }, [1, 'b']],
  [
    'the items of draft 2020-12',
    { type: 'array', prefixItems: [{ type: 'integer' }, { const: 'b' }] },
    [1, 'b'],
  ],
  [
    'the stricter limits',
    {
      allOf: [
        { type: 'number', minimum: 3 },
        { type: 'integer', minimum: 5 },
      ],
    },
    5,
  ],
  ['the shared values', { allOf: [{ enum: [1, 2, 3] }, { enum: [3, 2] }] }, 2],
  ['the type of the keywords', { minimum: 9 }, 9],
  [
    'further properties',
    { type: 'object', minProperties: 2, additionalProperties: { const: 1 } },
    { text: 1, text1: 1 },
  ],
  ['a reference', { $ref: '#/definitions/b' }, 'b'],
  ['an end of a schema in itself', { $ref: '#/definitions/tree' }, expect.objectContaining({ id: 'text' })],
  [
    'another alternative',
    { oneOf: [{ type: 'string' }, { type: 'string', minLength: 1 }, { type: 'integer' }] },
    1,
  ],
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  ['what a condition requires', { if: { const: 1 }, then: { const: 1 }, else: { const: 2 } }, 1],
])('makes %s', async (_what, schema, value) => {
  const tree = {
    type: 'object',
    properties: { id: {}, next: { $ref: '#/definitions/tree' } },
    required: ['id'],
  };
  expect(await sampleOf(schema, { definitions: { b: { const: 'b' }, tree } })).toEqual(value);
});

it.each<[string, JsonValue, string]>([
  ['a pattern that no text matches', { type: 'string', pattern: '^(?!)' }, 'pattern'],
  ['a schema that nothing matches', { type: 'string', not: {} }, 'other'],
  ['a schema that requires itself', { $ref: '#/definitions/tree' }, 'missing'],
])('returns the violations for %s', async (_what, schema, kind) => {
  const tree = { type: 'object', properties: { next: { $ref: '#/definitions/tree' } }, required: ['next'] };
  const found = await sampleOf(schema, { definitions: { tree } });
  expect(found).toEqual(expect.arrayContaining([expect.objectContaining({ kind })]));
});

it('gives each message an id of its own, also if the rule describes the id', async () => {
  const { rules } = planOf(
    { type: 'object' },
    { properties: { messageId: { type: 'string' }, context: {} } },
  );
  const plan = { ...planOf({}), rules: rules.flatMap((rule) => [rule, { ...rule, event: 'B' }]) };
  const [one, other] = (await planSamples(plan)).map(({ message }) => message?.['messageId']);
  expect([typeof one, one === other]).toEqual(['string', false]);
});

it('names the version of each rule but the first, and follows the common rule', async () => {
  const common = {
    properties: { context: { type: 'object', properties: { app: { const: 'shop' } }, required: ['app'] } },
  };
  const {
    rules: [rule],
  } = planOf({ type: 'object' });
  if (rule === undefined) throw new Error('no rule');
  const rules = [
    rule,
    { ...rule, version: 2 },
    { ...rule, type: 'common', event: undefined, schema: common } as const,
  ];
  const samples = await planSamples({ ...planOf({}), rules });
  expect(samples.map(({ message }) => message?.['context'])).toEqual([
    { app: 'shop' },
    { app: 'shop', protocols: { event_version: 2 } },
  ]);
});
