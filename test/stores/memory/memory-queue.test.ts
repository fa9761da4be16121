import { describe, expect, it } from 'vitest';
import { NO_PROGRESS } from '../../../src/queue/delivery.ts';
import { MemoryQueue } from '../../../src/stores/memory/memory-queue.ts';
import { FakeClock } from '../../fake-clock.ts';
import { queueConformance } from '../../queue/conformance.ts';
import { claimOne, LANE, newDelivery } from '../../queue/new-delivery.ts';

queueConformance('MemoryQueue', (clock) => Promise.resolve(new MemoryQueue(clock)));

describe('MemoryQueue', () => {
  it('hands out the very bytes it was given', async () => {
    const queue = new MemoryQueue(new FakeClock());
    const added = newDelivery('a');
    await queue.add([added]);
    expect((await claimOne(queue)).delivery.body).toBe(added.body);
  });

  it('forgets what is settled, so that an id can come again', async () => {
    const queue = new MemoryQueue(new FakeClock());
    for (let time = 0; time < 3; time++) {
      await queue.add([newDelivery('a', { orderKeys: ['u'] })]);
      expect(await queue.settle(await claimOne(queue), { state: 'delivered', progress: NO_PROGRESS })).toBe(
        true,
      );
    }
    expect(await queue.lanes()).toEqual([]);
  });

  it('counts what waits by state', async () => {
    const queue = new MemoryQueue(new FakeClock());
    await queue.add(['a', 'b', 'c'].map((id) => newDelivery(id)));
    const first = await claimOne(queue);
    await claimOne(queue);
    await queue.settle(first, { state: 'retrying', dueAt: 5, progress: { ...NO_PROGRESS, rounds: 1 } });
    expect(queue.stats()).toEqual([{ ...LANE, pending: 1, sending: 1, retrying: 1, delivered: 0, dead: 0 }]);
    expect(queue.oldestAt()).toBe(newDelivery('a').createdAt);
  });

  it('keeps a claim whose lease has ended as long as no other process takes it', async () => {
    const clock = new FakeClock();
    const queue = new MemoryQueue(clock);
    await queue.add([newDelivery('a')]);
    const taken = await claimOne(queue);
    await clock.advance(20_000);
    expect(await queue.renew(taken, NO_PROGRESS, 10)).toBe(true);
  });
});
