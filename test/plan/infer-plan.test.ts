import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../src/message/types.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { PlanInference } from '../../src/plan/inference/infer-plan.ts';

function inferred(messages: readonly JsonValue[]): PlanInference {
  const inference = new PlanInference();
  for (const message of messages) inference.add(message);
  return inference;
}

const track = (event: string, properties: JsonValue, context: JsonValue = {}): JsonValue => {
  return { type: 'track', event, userId: 'u', properties, context };
};

/** Messages as a shop sends them, all different. */
const TRAFFIC = Array.from({ length: 200 }, (_, index) =>
  track(index % 2 === 0 ? 'Order Completed' : 'Signup', {
    id: `${index}`,
    total: index / 3,
    count: index,
    currency: ['EUR', 'USD'][index % 3] ?? 'GBP',
    email: `user${index}@example.com`,
    at: new Date(1_700_000_000_000 + index).toISOString(),
    coupon: index % 5 === 0 ? 'X' : null,
    address: { city: `c${index}`, zip: `${10_000 + index}` },
    items: [{ sku: `s${index}`, price: index + 0.5 }],
    isNew: index % 4 === 0,
    ...(index % 10 === 0 && { note: `n${index}` }),
  }),
);

/** The schema of the properties of the only rule. */
function schemaOf(messages: readonly JsonValue[]): unknown {
  const { rules } = inferred(messages).document;
  const [schema] = rules.map((rule) => rule.schema as { properties: { properties: unknown } });
  return schema?.properties.properties;
}

const FEW = 'no event has 20 messages, so no property is required, and none has a list of values';

describe('an inferred plan', () => {
  it('accepts the messages that it was inferred from, and is the same for any order of them', () => {
    const { document } = inferred(TRAFFIC);
    const plan = new PlanCheck(document);
    expect(TRAFFIC.flatMap((message) => plan.violations(message))).toEqual([]);
    expect(inferred(TRAFFIC.toReversed()).document).toEqual(document);
  });

  const good = { ...(TRAFFIC[3] as { properties: Record<string, JsonValue> }).properties };
  it.each<[string, JsonValue, string]>([
    ['an unplanned event', track('Sign up', good), 'unplanned-event /event'],
    [
      'an unplanned property',
      track('Signup', { ...good, emial: 'x' }),
      'unplanned-property /properties/emial',
    ],
    ['a missing property', track('Signup', { ...good, id: undefined as never }), 'missing /properties/id'],
    ['no properties', { type: 'track', event: 'Signup', userId: 'u' }, 'missing /properties'],
    ['a number as a text', track('Signup', { ...good, total: '5' }), 'type /properties/total'],
    ['a fraction', track('Signup', { ...good, count: 1.5 }), 'type /properties/count'],
    ['null', track('Signup', { ...good, isNew: null }), 'type /properties/isNew'],
    ['another value', track('Signup', { ...good, currency: 'CHF' }), 'enum /properties/currency'],
    ['another format', track('Signup', { ...good, at: 'yesterday' }), 'format /properties/at'],
    ['no e-mail address', track('Signup', { ...good, email: 'nobody' }), 'format /properties/email'],
    [
      'a nested property',
      track('Signup', { ...good, address: { city: 'c', zip: 1 } }),
      'type /properties/address/zip',
    ],
    [
      'a property in a list',
      track('Signup', { ...good, items: [{ sku: 's' }] }),
      'missing /properties/items/0/price',
    ],
  ])('notices %s', (_what, message, violation) => {
    const plan = new PlanCheck(inferred(TRAFFIC).document);
    const sent = JSON.parse(JSON.stringify(message)) as JsonValue;
    expect(plan.violations(sent).map(({ kind, pointer }) => `${kind} ${pointer}`)).toEqual([violation]);
  });

  it('requires no property and lists no values before 20 messages', () => {
    const few = Array.from({ length: 19 }, () => track('A', { plan: 'pro' }));
    expect(schemaOf(few)).toEqual({ type: 'object', properties: { plan: { type: 'string' } } });
    expect(schemaOf([...few, track('A', { plan: 'pro' })])).toEqual({
      type: 'object',
      properties: { plan: { type: 'string', enum: ['pro'] } },
      required: ['plan'],
    });
  });

  it('lists no values that differ each time, or that look like data of a person', () => {
    const names = Array.from({ length: 40 }, (_, index) =>
      track('A', {
        firstName: ['Ann', 'Bob'][index % 2] ?? '',
        phone: '+49 30 1234567',
        once: index < 2 ? `${index}` : 'x',
      }),
    );
    expect(JSON.stringify(schemaOf(names))).not.toContain('enum');
  });

  it('makes a rule for each version, and rules for identify, group, page and screen', () => {
    const messages = [
      track('A', { a: 1 }, { protocols: { event_version: 2 } }),
      track('A', { a: 1 }),
      ...['identify', 'group', 'page', 'screen'].map((type) => ({
        type,
        userId: 'u',
        traits: { t: 1 },
        properties: { p: 1 },
      })),
      { type: 'alias', userId: 'u', previousId: 'v' },
    ];
    const { rules } = inferred(messages).document;
    expect(rules.map(({ type, event, version }) => [type, event, version])).toEqual([
      ['group', undefined, 1],
      ['identify', undefined, 1],
      ['page', undefined, 1],
      ['screen', undefined, 1],
      ['track', 'A', 1],
      ['track', 'A', 2],
    ]);
  });

  it('does not grow with keys that are data', () => {
    const maps = Array.from({ length: 600 }, (_, index) => track('A', { map: { [`key${index}`]: 1 } }));
    expect(schemaOf(maps)).toMatchObject({
      properties: { map: { type: 'object', additionalProperties: true } },
    });
  });

  it('takes only texts for data of persons, by the words in their names', () => {
    const properties = {
      shipping: 0,
      package: 'x',
      languageTag: 'de',
      age: 5,
      userEmail: 'x',
      FirstName: 'x',
    };
    const { remarks } = inferred([track('A', properties)]);
    expect(remarks.map(({ text }) => text)).toEqual([
      FEW,
      'these properties look like a person\'s data: "FirstName", "userEmail"',
    ]);
  });

  it('remarks on names in two spellings, on several types, and on data of persons', () => {
    const { remarks } = inferred([
      track('Sign Up', { total: 5, user_email: 'a@b.co', userId: 'u' }),
      track('signup', { total: '5', addr: '192.0.2.1', user_id: 'u' }),
    ]);
    expect(remarks.map(({ text }) => text)).toEqual([
      FEW,
      'the events "Sign Up", "signup" differ only in their spelling',
      'the properties "userId", "user_id" differ only in their spelling',
      'the property "total" has the types number (track "Sign Up"), string (track "signup")',
      'these properties look like a person\'s data: "addr", "user_email"',
    ]);
  });

  it.each([
    ['codes', ['free_trial', 'pro', 'v2.1'], true],
    ['codes in capital letters', ['EUR', 'USD'], true],
    ['names', ['Meier', 'Schmidt'], false],
    ['whole names', ['Jane Doe', 'Max Muster'], false],
    ['addresses', ['Hauptstr. 5, 10115 Berlin', 'Weg 1'], false],
    ['dates', ['1980-01-02', '1990-03-04'], false],
  ])('lists the values of a property only if they are codes: %s', (_what, values, isListed) => {
    const messages = Array.from({ length: 40 }, (_, index) =>
      track('A', { x: values[index % values.length] ?? '' }),
    );
    const { x } = (schemaOf(messages) as { properties: { x: object } }).properties;
    expect('enum' in x).toBe(isListed);
  });
});
