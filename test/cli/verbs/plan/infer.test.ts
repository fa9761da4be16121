import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const lines = Array.from({ length: 30 }, (_, index) =>
  JSON.stringify({
    type: 'track',
    event: index % 2 === 0 ? 'A' : 'a',
    userId: 'u',
    properties: { n: index },
  }),
).join('\n');

it('writes a plan that its messages follow, and remarks on stderr', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': lines });
  const { code, stdout, stderr } = await hooks(['plan', 'infer', 'm.ndjson', '-v'], { cwd });
  expect([code, stderr]).toEqual([
    0,
    'note: no event has 20 messages, so no property is required, and none has a list of values\nnote: the events "A", "a" differ only in their spelling\n       15  track "A"\n       15  track "a"\n',
  ]);
  const after = temporaryFolder({ 'm.ndjson': lines, 'plan.json': stdout });
  expect(await hooks(['plan', 'lint', 'plan.json', 'm.ndjson'], { cwd: after })).toMatchObject({ code: 0 });
});

it('reads on after an entry that is not a message, and exits with 1', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': `{"type"\n${lines}` });
  const { code, stdout, stderr } = await hooks(['plan', 'infer', 'm.ndjson'], { cwd });
  expect([code, stderr]).toEqual([1, expect.stringContaining('note: m.ndjson:1 is not a message: ')]);
  expect(JSON.parse(stdout)).toMatchObject({ rules: [{ key: 'A' }, { key: 'a' }] });
});

it('exits with 2 for a file without a message', async () => {
  const cwd = temporaryFolder({ 'm.ndjson': '' });
  expect(await hooks(['plan', 'infer', 'm.ndjson'], { cwd })).toMatchObject({ code: 2, stdout: '' });
});

const base = (index: number) => ({
  type: 'track',
  event: ['Order Paid', 'Order Sent'][index % 2],
  userId: `u-${index}`,
  properties: {
    id: `o-${index}`,
    at: `2026-11-01T10:00:${String(index % 60).padStart(2, '0')}Z`,
    total: index + 0.5,
    items: index,
    isGift: index % 3 === 0,
    currency: ['EUR', 'USD', 'CHF'][index % 3],
    coupon: index % 4 === 0 ? null : `c-${index}`,
    address: { city: `City ${index}`, zip: index },
    products: [{ sku: `s-${index}` }],
  },
});
type Message = ReturnType<typeof base>;
type Properties = Record<string, unknown>;

const ndjson = (messages: readonly object[]): string =>
  messages.map((message) => JSON.stringify(message)).join('\n');

const changed = (of: Properties) => (message: Message) => ({
  ...message,
  properties: { ...message.properties, ...of },
});

it('infers a plan that its messages follow, and that finds each of 12 changes in new messages', async () => {
  const CHANGES: readonly (readonly [kind: string, pointer: string, change: (message: Message) => object])[] =
    [
      ['unplanned-event', '/event', (message) => ({ ...message, event: 'Order payed' })],
      ['missing', '/properties/id', changed({ id: undefined })],
      ['missing', '/properties/address/city', changed({ address: { zip: 1 } })],
      ['type', '/properties/items', changed({ items: '3' })],
      ['type', '/properties/items', changed({ items: 1.5 })],
      ['type', '/properties/isGift', changed({ isGift: 'true' })],
      ['type', '/properties/address/zip', changed({ address: { city: 'Bern', zip: '3000' } })],
      ['type', '/properties/products/0/sku', changed({ products: [{ sku: 1 }] })],
      ['enum', '/properties/currency', changed({ currency: 'eur' })],
      ['format', '/properties/at', changed({ at: '1 November' })],
      ['unplanned-property', '/properties/Total', changed({ Total: 1 })],
      ['type', '/properties/total', changed({ total: null })],
    ];
  const seen = Array.from({ length: 400 }, (_, index) => base(index));
  const later = Array.from({ length: 400 }, (_, index) => base(index + 400));
  const at = CHANGES.map((_, index) => 7 + index * 31);
  const planted = later.map((message, index) => CHANGES[at.indexOf(index + 1)]?.[2](message) ?? message);
  const cwd = temporaryFolder({ 'seen.ndjson': ndjson(seen), 'later.ndjson': ndjson(planted) });
  const plan = await hooks(['plan', 'infer', 'seen.ndjson'], { cwd });
  writeFileSync(join(cwd, 'plan.json'), plan.stdout);
  expect(await hooks(['plan', 'lint', 'plan.json', 'seen.ndjson'], { cwd })).toMatchObject({ code: 0 });
  const { stdout } = await hooks(['plan', 'lint', 'plan.json', 'later.ndjson', '-o', 'json'], { cwd });
  const found = jsonLines(stdout).slice(0, -1);
  expect(found.map(({ line, kind, pointer }) => [line, kind, pointer])).toEqual(
    CHANGES.map(([kind, pointer], index) => [at[index], kind, pointer]),
  );
});
