import { expect, it } from 'vitest';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import type { ClaimResult, ClaimRequest } from '../../src/queue/queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { answer, startHarness } from './harness.ts';

class RottenQueue extends MemoryQueue {
  override async claim(request: ClaimRequest): Promise<ClaimResult> {
    const { claims, nextDueAt } = await super.claim(request);
    const damaged = claims.map((claim) => ({
      ...claim,
      delivery: { ...claim.delivery, isDamaged: true as const },
    }));
    return { claims: damaged, nextDueAt };
  }
}

it('makes a dead letter of a damaged delivery, without an attempt', async () => {
  const clock = new FakeClock();
  const harness = startHarness(() => answer(200), { clock, queue: new RottenQueue(clock) });
  await harness.sendAndAdvance(1);
  expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'damaged' });
  expect(harness.requests).toEqual([]);
});
