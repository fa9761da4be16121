import { describe, expect, it } from 'vitest';
import { dropDead } from '../../src/stores/sqlite/open-queue-file.ts';
import type { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { giveBackSpace, settledBytes } from '../../src/stores/sqlite/file/free-space.ts';
import { FakeClock } from '../fake-clock.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { LANE, newDelivery } from './new-delivery.ts';
import { openQueueFile } from '../stores/queue-file.ts';

const MB = 1024 * 1024;
const DAY_MS = 86_400_000;
/** Longer than a page, so that each delivery frees more than one. */
const BODY = new Uint8Array(6_000).fill(97);
const DEAD = { state: 'dead', reason: 'rejected' } as const;

/** Adds dead letters of the epoch, and one of now with the id `late`. */
async function fill(queue: SqliteQueue, count: number): Promise<void> {
  const old = Array.from({ length: count }, (_, index) =>
    newDelivery(`d${index}`, { body: BODY, ...DEAD, createdAt: index }),
  );
  await queue.add(old);
  await queue.add([newDelivery('late', { ...DEAD, createdAt: Date.now() })]);
}

describe('a queue with very many dead letters', () => {
  it('drops them in steps between other writes, except those of deletion requests', async () => {
    const { store, queue, inspection } = await openQueueFile();
    await fill(queue, 1_200);
    await queue.add([
      newDelivery('waits'),
      newDelivery('deletion', { type: 'delete', ...DEAD, createdAt: 1_200 }),
    ]);
    const counts: number[] = [];
    const between: Promise<unknown>[] = [];
    await dropDead(store, {
      since: 200,
      before: Infinity,
      goesOn: () => true,
      onDropped: (count) => {
        counts.push(count);
        between.push(queue.add([newDelivery(`between-${count}`)]));
      },
    });
    await Promise.all(between);
    expect(counts).toEqual([300, 800, 1_001]);
    const { deliveries } = await inspection.list({ states: ['dead'], limit: 1_000 });
    expect(deliveries.map(({ id }) => id)).toEqual([
      ...Array.from({ length: 200 }, (_, index) => `d${index}`),
      'deletion',
    ]);
    expect(await inspection.stats()).toMatchObject([{ pending: 4, dead: 201 }]);
  });

  it('stops dropping when told', async () => {
    const { store, queue, inspection } = await openQueueFile();
    await fill(queue, 1_200);
    let steps = 0;
    await dropDead(store, { since: 0, before: Infinity, goesOn: () => steps++ < 1, onDropped: () => {} });
    expect(await inspection.stats()).toMatchObject([{ dead: 701 }]);
  });

  it.each([
    [['dead'], ['deliveries_created (created_at>?)', 'progress_undelivered (settled_state=? AND rowid>?)']],
    [
      ['retrying'],
      ['deliveries_created (created_at>?)', 'progress_undelivered (settled_state=? AND rowid>?)'],
    ],
    [['sending'], ['deliveries_created (created_at>?)', 'c USING INTEGER PRIMARY KEY (rowid>?)']],
    [
      ['dead', 'pending'],
      ['deliveries_created (created_at>?)', 'd USING INTEGER PRIMARY KEY (rowid>?)'],
    ],
  ] as const)('those of %s since a time are found by index', async (states, used) => {
    const plans: string[] = [];
    const { queue, inspection } = await openQueueFile(undefined, {
      change: (store) => ({
        read: (work) =>
          store.read((sql) =>
            work((text) => {
              const steps = sql(`EXPLAIN QUERY PLAN ${text}`).all(...[...text.matchAll(/\?/g)].map(() => 0));
              plans.push(...steps.map(({ detail }) => String(detail)));
              return sql(text);
            }),
          ),
      }),
    });
    await fill(queue, 10);
    const { deliveries } = await inspection.list({ states, since: 1_000_000, limit: 10 });
    expect(deliveries.map(({ id }) => id)).toEqual(states.includes('dead' as never) ? ['late'] : []);
    for (const each of used) expect(plans).toContainEqual(expect.stringContaining(each));
    expect(plans).not.toContainEqual(expect.stringMatching(/^SCAN (d|p|deliveries|progress)\b/));
  });

  it('finds the first one since a time if later ones are older', async () => {
    const { queue, inspection } = await openQueueFile();
    const times = [5, 100, 7, 90, 8, 200];
    await queue.add(times.map((createdAt) => newDelivery(`at-${createdAt}`, { createdAt, ...DEAD })));
    const ids: string[] = [];
    let after: number | undefined = 0;
    while (after !== undefined) {
      const page = await inspection.list({ states: ['dead'], since: 90, after, limit: 1 });
      ids.push(...page.deliveries.map(({ id }) => id));
      after = page.next;
    }
    expect(ids).toEqual(['at-100', 'at-90', 'at-200']);
    expect((await inspection.list({ states: ['dead'], since: 201, limit: 1 })).deliveries).toEqual([]);
  });
});

describe('the space of deleted deliveries', () => {
  it('is returned in steps between other writes', async () => {
    const { file, store, queue, inspection } = await openQueueFile();
    await fill(queue, 1_000);
    const before = await settledBytes(file);
    await inspection.drop(Array.from({ length: 1_000 }, (_, index) => `d${index}`));
    expect(await settledBytes(file)).toBe(before);
    let steps = 0;
    await giveBackSpace(store, { goesOn: () => ++steps > 0 });
    expect(steps).toBeGreaterThan(3);
    expect(await settledBytes(file)).toBeLessThan(1.2 * MB);
    expect(before).toBeGreaterThan(5 * MB);
    expect(await ask(file, 'PRAGMA integrity_check')).toEqual(['ok']);
    expect(await inspection.get('late')).toMatchObject({ id: 'late' });
  });

  it('is returned after settled deliveries are removed, except for a reserve', async () => {
    const clock = new FakeClock();
    const retention = { deliveredMs: DAY_MS, deadMs: DAY_MS };
    const { file, queue } = await openQueueFile(undefined, { clock, retention });
    await fill(queue, 1_000);
    const before = await settledBytes(file);
    clock.reach(2 * DAY_MS);
    await queue.claim({ ...LANE, limit: 1, leaseMs: 1 });
    await clock.advance(61_000);
    const bytes = async (): Promise<number> => settledBytes(file);
    await expect.poll(bytes, { timeout: 5_000 }).toBeLessThan(before / 4);
  });
});
