import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/message/types.ts';
import { planTypes, type PlanDocument, type PlanRule } from '../../src/plan/plan.ts';
import { ROOT } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const rule = (event: string, properties: JsonValue, more: Partial<PlanRule> = {}): PlanRule => ({
  type: 'track',
  event,
  version: 1,
  schema: { type: 'object', properties: { properties } },
  file: 'plan.json',
  pointer: '',
  ...more,
});
const planOf = (rules: readonly PlanRule[]): PlanDocument => ({
  rules,
  listsProperties: true,
  listsEvents: true,
});

const address = (city: JsonObject): JsonObject => ({
  type: 'object',
  properties: { address: { $ref: '#/$defs/Address' } },
  $defs: { Address: { title: 'Address', type: 'object', properties: { city }, required: ['city'] } },
});
const located = (event: string, city: JsonObject): PlanRule => {
  const { $defs, ...properties } = address(city);
  return rule(event, properties, {
    schema: { properties: { properties }, ...($defs !== undefined && { $defs }) },
  });
};
const traits = {
  schema: { properties: { traits: { type: 'object', properties: { plan: { type: 'string' } } } } },
};

/** Events whose names are no names of types, or become the same one. */
const NASTY = [
  'Order Completed',
  'order-completed',
  'OrderCompleted2',
  '42 things',
  '🎉',
  '☃',
  '購入',
  'Ünïcode é',
  'Omit',
  'Record',
];
const STRANGE = [
  '*/ import "x"',
  '"`${1}\\',
  '__proto__',
  'constructor',
  'Track Events',
  'Identify Traits',
  '\u2028\n',
];

const RULES: readonly PlanRule[] = [
  ...[...NASTY, ...STRANGE].map((event) =>
    rule(event, { type: 'object', properties: { [event]: { description: event } } }),
  ),
  rule('Signup', {
    type: 'object',
    properties: {
      plan: { enum: ['free', 'pro'] },
      seats: { type: 'integer' },
      note: { title: 'Note', type: ['string', 'null'] },
      mark: { type: 'string', enum: ['a'], tsEnumNames: ['evil'] },
      any: {},
      free: { type: 'object' },
      none: { type: 'object', properties: {} },
      open: { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true },
      items: {
        type: 'array',
        minItems: 1,
        items: { title: 'Note', type: 'object', properties: { id: { type: 'string' } } },
      },
    },
    required: ['plan'],
    anyOf: [{ required: ['seats'] }, { required: ['note'] }],
  }),
  rule('Versioned', { properties: { old: { type: 'string' } } }),
  rule('Versioned', { properties: { young: { type: 'string' } } }, { version: 2 }),
  rule('Empty', { type: 'object', properties: {} }),
  located('Shipped', { type: 'string' }),
  located('Moved', { type: 'integer' }),
  rule('Shipped Address', { type: 'object', properties: {} }),
  { ...rule('', {}), type: 'identify', event: undefined, ...traits },
  { ...rule('', {}), type: 'common', event: undefined },
];

const START = `
import { Analytics } from '@segment/analytics-node';
import { createTrackingApiPipeline } from 'hooks-cli';
import { plannedBrowserTrack, plannedTrack, type IdentifyTraits, type VersionedV2, type TrackEvents } from './events.ts';
declare const node: Analytics;
type Options = { readonly ip?: string } | (() => void);
declare const next: {
  track(event: string | object, properties?: Record<string, any> | (() => void), options?: Options): Promise<number>;
};
const { client } = createTrackingApiPipeline({ endpoint: 'https://a.example/', writeKey: 'k' });
const track = plannedTrack(node);
const own = plannedTrack(client);
const browser = plannedBrowserTrack(next);
`;

const RIGHT = `
track({ userId: 'u1', event: 'Signup', properties: { plan: 'pro', note: null, any: 1, free: { b: 1 }, none: {}, open: { b: 1 } } });
track({ anonymousId: 'a1', event: 'Empty' }, () => {});
own({ userId: 'u1', event: 'Signup', properties: { plan: 'free', items: [] } }, { traceparent: 't' }).then(() => 1);
own({ userId: 'u1', event: 'Shipped', properties: { address: { city: 'Bern' } } });
own({ userId: 'u1', event: 'Moved', properties: { address: { city: 1 } } });
own({ userId: 'u1', event: 'Versioned', properties: { old: 'a' } });
browser('Signup', { plan: 'pro' }, { ip: '::' }).then((count) => count + 1);
browser('Empty');
export const values: [IdentifyTraits, VersionedV2, TrackEvents['🎉']] = [{ plan: 'a' }, { young: 'a' }, { '🎉': 1 }];
`;

/** Wrong statements, each with the error of the compiler. */
const WRONG: readonly (readonly [string, RegExp])[] = [
  [
    "track({ userId: 'u1', event: 'Signed up' });",
    /"Signed up"' is not assignable to type 'keyof TrackEvents'/,
  ],
  ["track({ userId: 'u1', event: 'Signup', properties: { plan: 'gold' } });", /"gold"' is not assignable/],
  [
    "track({ userId: 'u1', event: 'Signup', properties: { plan: 'pro', seat: 1 } });",
    /'seat' does not exist/,
  ],
  ["track({ userId: 'u1', event: 'Signup', properties: {} });", /Property 'plan' is missing/],
  ["track({ userId: 'u1', event: 'Signup' });", /not assignable to parameter of type 'PlannedCall/],
  [
    "track({ userId: 'u1', event: 'Empty', properties: { a: 1 } });",
    /'number' is not assignable to type 'never'/,
  ],
  ["track({ event: 'Empty' });", /'anonymousId' is missing/],
  ["own({ event: 'Empty' });", /'anonymousId' is missing/],
  ["own({ userId: 'u1', event: 'Empty', propertys: {} });", /'propertys' does not exist/],
  [
    "own({ userId: 'u1', event: 'Moved', properties: { address: { city: 'Bern' } } });",
    /'string' is not assignable/,
  ],
  ["own({ userId: 'u1', event: 'Versioned', properties: { young: 'a' } });", /'young' does not exist/],
  [
    "own({ userId: 'u1', event: 'Signup', properties: { plan: 'pro', items: [{ ids: '1' }] } });",
    /'ids' does not exist/,
  ],
  ["browser('Signed up');", /"Signed up"' is not assignable/],
  ["browser('Signup');", /Expected 2-3 arguments, but got 1/],
  ["browser('Signup', { plan: 'pro', seat: 1 });", /'seat' does not exist/],
  ["browser('Empty', {}, { op: '::' });", /'op' does not exist/],
];

const cwd = temporaryFolder({ 'right.ts': START + RIGHT });
beforeAll(async () => {
  mkdirSync(join(cwd, 'node_modules/@types'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@segment'), join(cwd, 'node_modules/@segment'));
  symlinkSync(ROOT, join(cwd, 'node_modules/hooks-cli'));
  symlinkSync(join(ROOT, 'node_modules/@types/node'), join(cwd, 'node_modules/@types/node'));
  writeFileSync(join(cwd, 'events.ts'), await planTypes(planOf(RULES)));
  for (const [index, [statement]] of WRONG.entries()) {
    writeFileSync(join(cwd, `wrong${index}.ts`), START + statement);
  }
});

async function errorsOf(...files: readonly string[]): Promise<string> {
  const flags = '--noEmit --strict --exactOptionalPropertyTypes --verbatimModuleSyntax --erasableSyntaxOnly';
  const settings =
    '--allowImportingTsExtensions --module preserve --target es2023 --types node --skipLibCheck';
  const args = [...`${flags} ${settings} --pretty false`.split(' '), ...files];
  const tsc = promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd });
  return tsc.then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
}

it('compiles in programs that follow the plan', { timeout: 60_000 }, async () => {
  expect(await errorsOf('right.ts')).toBe('');
});

it('does not compile in programs that violate the plan', { timeout: 60_000 }, async () => {
  const errors = (await errorsOf(...WRONG.map((_wrong, index) => `wrong${index}.ts`))).split(/\n(?! )/);
  for (const [index, [statement, error]] of WRONG.entries()) {
    const own = errors.filter((each) => each.startsWith(`wrong${index}.ts`));
    expect(own.join('\n'), statement).toMatch(error);
  }
});

it('writes the same for rules in another order', async () => {
  const text = await planTypes(planOf(RULES));
  expect(text).toMatch(/^\/\/ Made by hooks plan types\. Do not edit\.\n/);
  expect(await planTypes(planOf(RULES.toReversed()))).toBe(text);
  expect(text).not.toContain('evil');
});

it('names the rule that types cannot express', async () => {
  const schema = {
    $id: 'https://a.example/s',
    properties: { properties: { $ref: 'https://a.example/s#/$defs/a' } },
    $defs: { a: {} },
  };
  await expect(planTypes(planOf([rule('Signup', {}, { schema })]))).rejects.toThrow(
    'Expected a schema that types can express, got track "Signup": ',
  );
});
