import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import { makeLaneDue } from '../../src/queue/make-lane-due.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LANE, newDelivery } from './new-delivery.ts';

const HOUR_MS = 3_600_000;

/** A file whose lane has `count` deliveries that wait an hour; every third one because its webhook asked for it. */
async function waiting(count: number) {
  const open = await openDurableQueue({ store: undefined, dataDir: temporaryFolder(), clock: systemClock });
  const now = systemClock.now();
  const soon = { createdAt: now, dueAt: now };
  const names = Array.from({ length: count }, (_, index) => `d${index}`);
  await open.queue.add(names.map((name) => newDelivery(name, soon)));
  await open.queue.add([newDelivery('other', { ...soon, destination: 'Other' })]);
  for (const lane of [LANE, { ...LANE, destination: 'Other' }]) {
    const { claims } = await open.queue.claim({ ...lane, limit: count, leaseMs: 10_000 });
    for (const [index, claim] of claims.entries()) {
      const dueAt = now + HOUR_MS;
      const notBefore = index % 3 === 0 ? { 'https://a.example/': dueAt } : {};
      const progress = { ...NO_PROGRESS, rounds: 1, firstAttemptAt: now, notBefore };
      await open.queue.settle(claim, { state: 'retrying', dueAt, progress });
    }
  }
  return { ...open, now };
}

type Waiting = Awaited<ReturnType<typeof waiting>>;

const ways = {
  'any store': ({ inspection }: Waiting, goesOn: () => boolean) =>
    makeLaneDue(inspection, LANE, { clock: systemClock, goesOn }),
  'a file': async ({ makeDue }: Waiting, goesOn: () => boolean) => makeDue?.(LANE, goesOn),
};

describe.each(Object.entries(ways))('in %s', (name, makeDue) => {
  it('makes the deliveries of the lane due in steps, but those whose webhook asked for a longer wait', async () => {
    const open = await waiting(1_800);
    let steps = 0;
    await makeDue(open, () => ++steps > 0);
    expect(steps).toBe(name === 'a file' ? 2 : 4);
    const { deliveries } = await open.inspection.list({ states: ['retrying'], limit: 2_000 });
    const isDue = (dueAt: number): boolean => dueAt < open.now + HOUR_MS / 2;
    expect(deliveries.filter(({ dueAt }) => isDue(dueAt))).toHaveLength(1_200);
    expect((await open.inspection.get('other'))?.dueAt).toBe(open.now + HOUR_MS);
    const { claims } = await open.queue.claim({ ...LANE, limit: 2_000, leaseMs: 10_000 });
    expect(claims).toHaveLength(1_200);
    // Those in flight are not changed.
    await makeDue(open, () => true);
    await Promise.all(
      claims.map(async (claim) => open.queue.settle(claim, { state: 'delivered', progress: NO_PROGRESS })),
    );
    expect(await open.sweep?.()).toBe(0);
    expect((await open.inspection.stats()).map(({ delivered, retrying }) => [delivered, retrying])).toEqual([
      [0, 1],
      [1_200, 600],
    ]);
    await open.close();
  });

  it('stops between two steps', async () => {
    const open = await waiting(1_800);
    await makeDue(open, () => false);
    const { deliveries } = await open.inspection.list({ states: ['retrying'], limit: 2_000 });
    const due = deliveries.filter(({ dueAt }) => dueAt < open.now + HOUR_MS / 2);
    expect(due).toHaveLength(name === 'a file' ? 1_000 : 333);
    await open.close();
  });
});
