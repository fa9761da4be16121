import { systemClock } from '../../src/clock.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { LANE, newDelivery } from '../queue/new-delivery.ts';

const HOUR_MS = 3_600_000;
const DEAD = { state: 'dead', reason: 'exhausted' } as const;

/** Adds two dead letters, a pending delivery, and one that waits an hour for its retry, as its webhook asked. */
export async function filledQueue(dataDir: string): Promise<void> {
  const queue = await openDurableQueue({ store: undefined, dataDir, clock: systemClock });
  const now = systemClock.now();
  const soon = { createdAt: now, dueAt: now };
  await queue.queue.add([newDelivery('ab12-later', soon)]);
  const { claims } = await queue.queue.claim({ ...LANE, limit: 1, leaseMs: 10_000 });
  const dueAt = now + HOUR_MS;
  const progress = {
    ...NO_PROGRESS,
    rounds: 1,
    firstAttemptAt: now,
    notBefore: { 'https://a.example/': dueAt },
  };
  for (const claim of claims) await queue.queue.settle(claim, { state: 'retrying', dueAt, progress });
  await queue.queue.add([
    newDelivery('ab12-dead', { ...soon, ...DEAD }),
    newDelivery('cd34-dead', { ...soon, ...DEAD }),
    newDelivery('ef56-pending', soon),
  ]);
  await queue.close();
}
