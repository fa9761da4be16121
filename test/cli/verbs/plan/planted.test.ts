import { expect, it } from 'vitest';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const PATIENT = 60_000;

const order = {
  order_id: { type: 'string', pattern: '^o-[0-9]+$' },
  total: { type: 'number', minimum: 0 },
  items: { type: 'integer' },
  currency: { type: 'string', enum: ['EUR', 'USD'] },
  paid_at: { type: 'string', format: 'date-time' },
  coupon: { type: ['string', 'null'], maxLength: 10 },
  address: {
    type: 'object',
    properties: { city: { type: 'string' }, zip: { type: 'string' } },
    required: ['city'],
  },
  products: {
    type: 'array',
    items: { type: 'object', properties: { sku: { type: 'string' } } },
    maxItems: 3,
  },
};
const whole = (field: string, properties: object, required: readonly string[]): object => ({
  type: 'object',
  properties: { [field]: { type: 'object', properties, required } },
});
const PLAN = {
  rules: [
    {
      key: 'Order Paid',
      type: 'TRACK',
      version: 1,
      jsonSchema: whole('properties', order, ['order_id', 'total']),
    },
    {
      key: 'Order Paid',
      type: 'TRACK',
      version: 2,
      jsonSchema: whole('properties', { ...order, tax: { type: 'number' } }, ['tax']),
    },
    { key: 'Page Viewed', type: 'TRACK', version: 1, jsonSchema: whole('properties', {}, []) },
    {
      key: null,
      type: 'IDENTIFY',
      version: 1,
      jsonSchema: whole('traits', { plan: { enum: ['free', 'pro'] } }, ['plan']),
    },
    {
      key: null,
      type: 'COMMON',
      version: 1,
      jsonSchema: {
        properties: { context: { properties: { app: { type: 'object', required: ['version'] } } } },
      },
    },
  ],
};

const GOOD = {
  order_id: 'o-1',
  total: 12.5,
  items: 2,
  currency: 'EUR',
  paid_at: '2026-11-01T10:00:00Z',
  coupon: null,
  address: { city: 'Bern', zip: '3000' },
  products: [{ sku: 'a' }, { sku: 'b' }],
};
const paid = (change: object = {}, rest: object = {}): object => ({
  type: 'track',
  event: 'Order Paid',
  userId: 'u-1',
  properties: { ...GOOD, ...change },
  ...rest,
});
const identify = (traits: object): object => ({ type: 'identify', userId: 'u-1', traits });
const context = (value: object): object => ({ context: value });

/** Messages that violate the plan, each with the kind and the place of its only violation. */
const PLANTED: readonly (readonly [kind: string, pointer: string, message: object])[] = [
  ['type', '/properties/items', paid({ items: '2' })],
  ['type', '/properties/items', paid({ items: 2.5 })],
  ['type', '/properties/coupon', paid({ coupon: 5 })],
  ['type', '/properties/address', paid({ address: 'Bern' })],
  ['type', '/properties/products/1/sku', paid({ products: [{ sku: 'a' }, { sku: 7 }] })],
  ['missing', '/properties/order_id', paid({ order_id: undefined })],
  ['missing', '/properties/address/city', paid({ address: { zip: '3000' } })],
  ['missing', '/properties/tax', paid({}, context({ protocols: { event_version: 2 } }))],
  ['missing', '/traits/plan', identify({})],
  ['missing', '/context/app/version', paid({}, context({ app: {} }))],
  ['enum', '/properties/currency', paid({ currency: 'CHF' })],
  ['enum', '/traits/plan', identify({ plan: 'Pro' })],
  ['pattern', '/properties/order_id', paid({ order_id: '1' })],
  ['format', '/properties/paid_at', paid({ paid_at: 'yesterday' })],
  ['other', '/properties/total', paid({ total: -1 })],
  ['other', '/properties/coupon', paid({ coupon: 'longer than ten' })],
  ['other', '/properties/products', paid({ products: [{}, {}, {}, {}] })],
  ['unplanned-event', '/event', { ...paid(), event: 'Order Payed' }],
  ['unplanned-property', '/properties/Total', paid({ Total: 1 })],
  ['version', '/context/protocols/event_version', paid({}, context({ protocols: { event_version: 9 } }))],
];

/** Good messages of all kinds, with other values each. */
function good(index: number): object {
  const total = index / 4;
  const kinds = [
    paid({ order_id: `o-${index}`, total, items: index }),
    paid({ tax: total }, context({ protocols: { event_version: 2 }, app: { version: '1' } })),
    paid({ coupon: `c${index}`, address: undefined, products: [] }),
    identify({ plan: index % 2 === 0 ? 'free' : 'pro' }),
    { type: 'page', anonymousId: `a-${index}`, name: 'Home', properties: {} },
  ];
  return kinds[index % kinds.length] ?? {};
}

it(
  'names each of 20 different violations among 5,000 messages by its line, and no other message',
  async () => {
    const messages = Array.from({ length: 5_000 }, (_, index) => good(index));
    const lines = PLANTED.map((_, index) => 113 + index * 241);
    for (const [index, line] of lines.entries()) messages[line - 1] = PLANTED[index]?.[2] ?? {};
    const cwd = temporaryFolder({
      'plan.json': JSON.stringify(PLAN),
      'm.ndjson': messages.map((message) => JSON.stringify(message)).join('\n'),
    });
    const { code, stdout } = await hooks(['plan', 'lint', 'plan.json', 'm.ndjson', '-o', 'json'], { cwd });
    const found = jsonLines(stdout);
    expect(found.slice(0, -1).map(({ line, kind, pointer }) => [line, kind, pointer])).toEqual(
      PLANTED.map(([kind, pointer], index) => [lines[index], kind, pointer]),
    );
    expect(found.at(-1)).toEqual({ summary: { read: 5_000, valid: 4_980, violations: 20 } });
    expect(code).toBe(1);
  },
  PATIENT,
);
