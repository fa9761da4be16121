import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.ts';
import type { JsonValue } from '../../src/message/types.ts';
import { SchemaCheck } from '../../src/expectation/schema-check.ts';
import { PlanCheck } from '../../src/plan/checking/plan-check.ts';
import { planOfSchemas } from '../../src/plan/plan.ts';
import { judge } from '../expectation/arriving.ts';

const ORDER = {
  type: 'object',
  required: ['userId', 'properties'],
  properties: {
    properties: {
      type: 'object',
      required: ['orderId'],
      properties: {
        orderId: { type: 'string' },
        total: { type: 'number' },
        currency: { enum: ['EUR', 'USD'] },
        email: { format: 'email' },
      },
      additionalProperties: false,
    },
  },
};
const SCHEMAS = { 'Order Completed': ORDER, identify: { required: ['traits'] } };

const order = (properties: object): object => ({
  type: 'track',
  event: 'Order Completed',
  userId: 'u1',
  properties,
});

function schemaCheck(schemas: JsonValue): SchemaCheck {
  const plan = new PlanCheck(planOfSchemas(schemas, 's.json'));
  return new SchemaCheck(({ value }) => plan.violations(value), { expectation: 'schema', filter: 's.json' });
}

function differences(schemas: JsonValue, message: object): string[] {
  const [result] = judge(schemaCheck(schemas), [[message]]);
  return (result?.differing ?? []).flatMap((each) =>
    each.differences.map(({ path, expected, got }) => `${path}: expected ${expected}, got ${got}`),
  );
}

function compileError(schemas: JsonValue): string {
  try {
    return typeof schemaCheck(schemas);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return `${error.message}; ${error.hint}`;
  }
}

/** Puts a schema under a property that is named like a misspelled keyword. */
const within = (schema: object): JsonValue => ({
  A: { properties: { properties: { properties: { requierd: schema as JsonValue } } } },
});

/** A schema that refers twice to the same definition. */
function doubled(n: number): JsonValue {
  return { allOf: [{ $ref: `#/$defs/l${n}` }, { $ref: `#/$defs/l${n}` }] };
}

describe('a file of schemas', () => {
  it('reports the path, the expected and the actual value of each difference', () => {
    expect(differences(SCHEMAS, order({ total: '12.5', currency: 'GBP', plan: 'pro', email: 'no' }))).toEqual(
      [
        'properties.orderId: expected something, got nothing',
        'properties.plan: expected nothing, got "pro"',
        'properties.total: expected a value of type number, got "12.5"',
        'properties.currency: expected one of ["EUR","USD"], got "GBP"',
        'properties.email: expected a value of format email, got "no"',
      ],
    );
    expect(differences(SCHEMAS, { type: 'identify', userId: 'u1' })).toEqual([
      'traits: expected something, got nothing',
    ]);
  });

  it('rejects tracks of unknown events, but accepts other types without a schema', () => {
    expect(differences(SCHEMAS, { ...order({}), event: 'Order Complete' })).toEqual([
      'event: expected an event with a schema, such as "Order Completed", got "Order Complete"',
    ]);
    expect(differences(SCHEMAS, { type: 'page', userId: 'u1' })).toEqual([]);
    expect(differences(SCHEMAS, { ...order({}), event: 'constructor' })).toHaveLength(1);
  });

  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'checks a property named %s',
    (name) => {
      for (const rest of [
        '',
        ',"additionalProperties":false',
        ',"$schema":"https://json-schema.org/draft/2020-12/schema","unevaluatedProperties":false',
      ]) {
        const schema = `{"required":["${name}"],"properties":{"${name}":{"type":"string"}}${rest}}`;
        const [, draft = ''] = /(,"\$schema":"[^"]*")/.exec(rest) ?? [];
        const whole = `{"A":{"properties":{"properties":${schema.replace(draft, '')}}${draft}}}`;
        const found = (properties: string): string[] =>
          differences(JSON.parse(whole) as JsonValue, {
            ...order({}),
            event: 'A',
            properties: JSON.parse(properties) as JsonValue,
          });
        expect(found(`{"${name}":"text"}`), rest).toEqual([]);
        expect(found('{}'), rest).toEqual([`properties.${name}: expected something, got nothing`]);
        expect(found(`{"${name}":5}`), rest).toEqual([
          `properties.${name}: expected a value of type string, got 5`,
        ]);
      }
    },
  );

  it('supports events named like a property of every object', () => {
    const schemas = JSON.parse('{"__proto__":{"required":["x"]},"toString":{}}') as JsonValue;
    expect(differences(schemas, { ...order({}), event: '__proto__' })).toEqual([
      'x: expected something, got nothing',
    ]);
    expect(differences(schemas, { ...order({}), event: 'toString' })).toEqual([]);
    expect(differences(schemas, { ...order({}), event: 'constructor' })).toHaveLength(1);
  });

  it.each([
    ['itself', '{"E":{"$ref":"#"}}'],
    ['itself by its parts', '{"E":{"allOf":[{"anyOf":[{"$ref":"#/allOf/0"}]}]}}'],
    [
      'two definitions',
      '{"E":{"$ref":"#/$defs/a"},"$defs":{"a":{"oneOf":[{"type":"null"},{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}',
    ],
  ])('rejects references that lead back to %s, with the name of the schema', (_what, schemas) => {
    expect(compileError(JSON.parse(schemas) as JsonValue)).toContain(
      'that compiles at track "E" (/E): a $ref leads back to its own schema',
    );
  });

  it('rejects a cycle once a message reaches it, and accepts a tree of any depth', () => {
    const cycle = {
      properties: {
        properties: { properties: { x: { allOf: [{ $ref: '#/properties/properties/properties/x' }] } } },
      },
    };
    expect(differences({ A: cycle }, { ...order({}), event: 'A' })).toEqual([]);
    expect(() => differences({ A: cycle }, { ...order({ x: 1 }), event: 'A' })).toThrow(InputError);
    const tree = {
      A: { $ref: '#/$defs/tree', $defs: { tree: { additionalProperties: { $ref: '#/$defs/tree' } } } },
    };
    let properties = {};
    for (let depth = 0; depth < 500; depth++) properties = { properties };
    expect(differences(tree, { ...order(properties), event: 'A' })).toEqual([]);
  });

  it('accepts 10,000 valid messages', () => {
    const check = schemaCheck(SCHEMAS);
    const batch = Array.from({ length: 100 }, (_, id) =>
      order({ orderId: `${id}`, total: id / 3, currency: 'EUR' }),
    );
    const batches = Array<object[]>(100).fill(batch);
    expect(judge(check, batches)).toMatchObject([{ isMet: true, said: '10000 messages' }]);
  });

  it('recognizes draft 07 and 2020-12 by their URLs and keywords', () => {
    const tuple = {
      properties: { properties: { properties: { list: { prefixItems: [{ type: 'number' }] } } } },
    };
    const wrong = order({ list: ['a'] });
    for (const schema of [tuple, { $schema: 'https://json-schema.org/draft/2020-12/schema', ...tuple }]) {
      expect(differences({ 'Order Completed': schema }, wrong)).toHaveLength(1);
    }
    const seven = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { n: { type: 'number' } },
      properties: { properties: { properties: { list: { items: { $ref: '#/definitions/n' } } } } },
    };
    expect(differences({ 'Order Completed': seven }, wrong)).toHaveLength(1);
    const four = { $schema: 'http://json-schema.org/draft-04/schema#' };
    expect(compileError({ A: four })).toContain(
      'Expected `$schema` at track "A" (/A) to be draft 07 or 2020-12',
    );
  });

  it.each([
    [
      'a wrong keyword',
      { A: { type: 'strnig' } },
      /at track "A" \(\/A\): expected one of \[.*\] at type, got "strnig"; /,
    ],
    [
      'a remote $ref, which is never fetched',
      { A: { $ref: 'https://a.example/x.json' } },
      /at track "A" \(\/A\): can't resolve reference.*nothing is fetched/,
    ],
    [
      'a wrong pattern',
      { A: { properties: { b: { pattern: '[' } } } },
      /at track "A" \(\/A\): .*Invalid regular expression/,
    ],
    ['an asynchronous schema', { A: { $async: true } }, /at track "A" \(\/A\): \$async/],
    ['no schema', { A: 5 }, /Expected a JSON Schema at "A", got 5/],
    ['a list', [], /Expected a tracking plan, or an object of event name/],
  ])('is rejected with its place for %s', (_what, schemas, sentence) => {
    expect(compileError(schemas as JsonValue)).toMatch(sentence);
  });

  it('describes the problem of a value or a key in words, once', () => {
    const schema = {
      properties: {
        properties: { properties: { n: { minimum: 3 }, p: { propertyNames: { pattern: '^a' } } } },
      },
    };
    const found = differences({ 'Order Completed': schema }, order({ n: 1, p: { b: 1 } }));
    expect(found).toEqual([
      'properties.n: expected a value that is >= 3, got 1',
      'properties.p: expected a key that matches pattern "^a", got "b"',
    ]);
  });

  it('names a misspelled keyword or format with its place, and ignores other unknown keys', () => {
    expect(compileError(within({ requierd: ['a'] }))).toContain(
      'at track "A" (/A): unknown keyword "requierd" (is "required" meant?) at properties.properties.properties.requierd',
    );
    expect(compileError(within({ format: 'emial' }))).toContain(
      'at track "A" (/A): unknown format "emial" (is "email" meant?) at properties.properties.properties.requierd',
    );
    const notes = {
      'x-owner': 'shop',
      owner: 'shop',
      labels: { team: 'shop' },
      note: 'n',
      example: 1,
      format: 'iri',
      $comment: 'c',
      title: 't',
      examples: [{ requierd: 1 }],
      deprecated: true,
    };
    expect(compileError(within({ ...notes, enum: [{ requierd: 1 }] }))).toBe('object');
  });

  it.each([
    [{ typ: 'string' }, '"typ" (is "type" meant?)'],
    [{ formt: 'email' }, '"formt" (is "format" meant?)'],
    [{ item: { type: 'string' } }, '"item" (is "items" meant?)'],
    [{ ref: '#/$defs/x' }, '"ref" (is "$ref" meant?)'],
  ])('takes %j for a misspelled keyword, because its value fits', (schema, meant) => {
    expect(compileError(within(schema))).toContain(`unknown keyword ${meant}`);
  });

  it.each([
    { typ: 'new' },
    { form: 'signup' },
    { item: 'book' },
    { ref: 'TICKET-7' },
    { cost: 5 },
    { example: ['a'] },
    { require: true },
  ])('takes %j for a note', (schema) => {
    expect(compileError(within(schema))).toBe('object');
  });

  it('is rejected if its references double at each level', () => {
    const levels = Array.from({ length: 40 }, (_, n): [string, JsonValue] => [`l${n}`, doubled(n + 1)]);
    const $defs = Object.fromEntries([...levels, ['l40', { type: 'object' }]]);
    expect(compileError({ A: { ...(doubled(0) as object), $defs } })).toMatch(
      /at track "A" \(\/A\): its references lead to more than 100000 schemas/,
    );
    const tree = { properties: { left: { $ref: '#/$defs/tree' }, right: { $ref: '#/$defs/tree' } } };
    expect(compileError({ A: { $ref: '#/$defs/tree', $defs: { tree } } })).toBe('object');
  });

  it('recognizes each spelling of a draft, and names the file if the draft is wrong', () => {
    const wrong = order({ list: 5 });
    const list = { properties: { properties: { properties: { list: { type: 'string' } } } } };
    for (const draft of ['draft-07', 'draft/2020-12']) {
      for (const scheme of ['http', 'https']) {
        for (const end of ['', '#']) {
          const $schema = `${scheme}://json-schema.org/${draft}/schema${end}`;
          expect(differences({ $schema, 'Order Completed': list }, wrong)).toHaveLength(1);
          expect(differences({ 'Order Completed': { $schema, ...list } }, wrong)).toHaveLength(1);
        }
      }
    }
    expect(compileError({ $schema: 'https://json-schema.org/draft-04/schema', A: list })).toMatch(
      /^Expected `\$schema` at track "A" \(\/A\) to be draft 07 or 2020-12, got "https:/,
    );
  });

  it('applies the definitions of the file to each schema', () => {
    const schemas = {
      $defs: { n: { type: 'number' }, m: { type: 'string' } },
      'Order Completed': {
        $defs: { m: { type: 'boolean' } },
        properties: { properties: { properties: { n: { $ref: '#/$defs/n' }, m: { $ref: '#/$defs/m' } } } },
      },
    };
    expect(differences(schemas, order({ n: 'a', m: 'a' }))).toHaveLength(2);
    expect(differences(schemas, order({ n: 1, m: true }))).toEqual([]);
  });

  it('distinguishes the event of a track from a type of the same name', () => {
    const schemas = { identify: { required: ['traits'] }, Signup: {} };
    const track = { type: 'track', event: 'identify', userId: 'u1', traits: {} };
    expect(differences(schemas, track)).toEqual(['event: expected an event with a schema, got "identify"']);
    expect(differences(schemas, { type: 'identify', userId: 'u1' })).toHaveLength(1);
  });
});
