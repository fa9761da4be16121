import { expect, it } from 'vitest';
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

it('makes the deliveries of the lane due in steps, but those whose webhook asked for a longer wait', async () => {
  const { inspection, queue, close, now } = await waiting(1_200);
  let steps = 0;
  await makeLaneDue(inspection, LANE, { clock: systemClock, goesOn: () => ++steps > 0 });
  expect(steps).toBe(3);
  const { deliveries } = await inspection.list({ states: ['retrying'], limit: 2_000 });
  const isDue = (dueAt: number): boolean => dueAt < now + HOUR_MS / 2;
  expect(deliveries.filter(({ dueAt }) => isDue(dueAt))).toHaveLength(800);
  expect((await inspection.get('other'))?.dueAt).toBe(now + HOUR_MS);
  const { claims } = await queue.claim({ ...LANE, limit: 2_000, leaseMs: 10_000 });
  expect(claims).toHaveLength(800);
  await close();
});

it('stops between two steps', async () => {
  const { inspection, close, now } = await waiting(600);
  await makeLaneDue(inspection, LANE, { clock: systemClock, goesOn: () => false });
  const { deliveries } = await inspection.list({ states: ['retrying'], limit: 1_000 });
  expect(deliveries.filter(({ dueAt }) => dueAt < now + HOUR_MS / 2)).toHaveLength(333);
  await close();
});
