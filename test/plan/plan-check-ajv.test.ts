import { Ajv } from 'ajv';
import formats from 'ajv-formats';
import {
  array,
  assert,
  asyncProperty,
  boolean,
  constant,
  constantFrom,
  dictionary,
  letrec,
  nat,
  oneof,
  record,
  tuple,
  uniqueArray,
} from 'fast-check';
import { expect, it } from 'vitest';
import type { JsonValue } from '../../src/message/types.ts';
import { compilePlan, planOfSchemas } from '../../src/plan/plan.ts';

const SCHEMAS = 500;
const VALUES_EACH = 20;
const PATIENT = 120_000;

// Few names, numbers and texts, so that about half of the values match.
const name = constantFrom('a', 'b', 'c', 'toString');
const text = constantFrom('', 'x', 'xyz', 'o-1', '2026-11-01T10:00:00Z', 'a@b.ch', '\u{1f600}');
const number = constantFrom(-1, 0, 1, 1.5, 3, 1e21);
const literal = oneof(text, number, constant(null), boolean());
const size = nat({ max: 3 });
const typeName = constantFrom('string', 'integer', 'number', 'boolean', 'null', 'object', 'array');

const { schema, value } = letrec<{ schema: JsonValue; value: JsonValue }>((tie) => {
  const inner = tie('schema');
  const some = array(inner, { minLength: 1, maxLength: 2 });
  const keywords = record(
    {
      type: oneof(typeName, uniqueArray(typeName, { minLength: 1, maxLength: 4 })),
      enum: uniqueArray(literal, { minLength: 1, maxLength: 3 }),
      const: literal,
      properties: dictionary(name, inner, { maxKeys: 3, noNullPrototype: true }),
      required: uniqueArray(name, { maxLength: 2 }),
      additionalProperties: inner,
      patternProperties: dictionary(constantFrom('^a', 'c$', '.'), inner, {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      propertyNames: inner,
      minProperties: size,
      maxProperties: size,
      dependencies: dictionary(name, uniqueArray(name, { maxLength: 2 }), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      items: oneof(inner, some),
      additionalItems: inner,
      contains: inner,
      minItems: size,
      maxItems: size,
      uniqueItems: boolean(),
      minLength: size,
      maxLength: size,
      pattern: constantFrom('^o-[0-9]+$', 'x', '^.$'),
      format: constantFrom('date-time', 'email', 'uuid', 'uri'),
      minimum: number,
      exclusiveMaximum: number,
      multipleOf: constantFrom(1, 0.5, 2),
      anyOf: some,
      oneOf: some,
      allOf: some,
      not: inner,
      if: inner,
      // oxlint-disable-next-line no-thenable -- a keyword of JSON Schema
      then: inner,
      else: inner,
    },
    { requiredKeys: [] },
  );
  // A real schema has few keywords in each place; one with all of them matches nothing.
  const few = tuple(keywords, uniqueArray(nat({ max: 29 }), { minLength: 1, maxLength: 3 }));
  const picked = few.map(([all, kept]) =>
    Object.fromEntries(Object.entries(all).filter((_, index) => kept.includes(index))),
  );
  return {
    schema: oneof({ maxDepth: 3, withCrossShrink: true }, boolean(), picked),
    value: oneof(
      { maxDepth: 3, withCrossShrink: true },
      literal,
      array(tie('value'), { maxLength: 3 }),
      dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  };
});

/** Undefined if ajv throws, as it does for some objects that have a property of their own named `toString`. */
function accepted(check: () => boolean): boolean | undefined {
  try {
    return check();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return undefined;
  }
}

it(
  'accepts and rejects what ajv accepts and rejects, in 10,000 pairs of a schema and a message',
  async () => {
    // Without `allErrors`, ajv accepts [] for {"items":[false],"contains":false}, which is wrong.
    const peer = new Ajv({ strict: false, ownProperties: true, allErrors: true });
    formats.default(peer);
    const verdicts = { accepted: 0, rejected: 0 };
    const contents = array(value, { minLength: VALUES_EACH, maxLength: VALUES_EACH });
    const property = asyncProperty(schema, contents, async (properties, values) => {
      const whole = { type: 'object', properties: { properties } };
      const matches = peer.compile(whole);
      const plan = await compilePlan(planOfSchemas(whole, 'plan.json'));
      for (const each of values) {
        const message = { type: 'track', event: 'A', userId: 'u', properties: each };
        const isRight = accepted(() => matches(message));
        if (isRight === undefined) continue;
        verdicts[isRight ? 'accepted' : 'rejected']++;
        if ((plan.violations(message).length === 0) !== isRight) throw new Error(`ajv says ${isRight}`);
      }
    });
    await assert(property, { numRuns: SCHEMAS });
    // Neither side is an exception: the pairs say something about both.
    expect(Math.min(verdicts.accepted, verdicts.rejected)).toBeGreaterThan(SCHEMAS);
  },
  PATIENT,
);
