import { describe, expect, it } from 'vitest';
import { settledDelivery } from '../../src/engine/settlement.ts';
import { copyDelivery, NO_PROGRESS, type Delivery } from '../../src/queue/delivery.ts';
import { MemoryQueue } from '../../src/stores/open.ts';
import { FakeClock } from '../fake-clock.ts';
import { LANE, newDelivery } from './new-delivery.ts';

const FULL: Required<Delivery> = {
  ...newDelivery('d'),
  orderKeys: ['u'],
  trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  createdAt: 1,
  dueAt: 2,
  state: 'retrying',
  progress: { ...NO_PROGRESS, rounds: 3 },
  reason: 'rejected',
  detail: 'a detail',
  settledAt: 4,
  isDamaged: true,
};

describe('a copy of a delivery', () => {
  it('has all fields of the original', () => {
    const copy = copyDelivery(FULL);
    expect(copy).toEqual(FULL);
    copy.dueAt = 9;
    expect(FULL.dueAt).toBe(2);
  });

  it.each([
    { state: 'delivered', progress: NO_PROGRESS },
    { state: 'dead', reason: 'exhausted', progress: NO_PROGRESS },
    { state: 'retrying', dueAt: 7, progress: NO_PROGRESS },
  ] as const)('that is $state after its settlement has the trace and all else', (settlement) => {
    const settledAt = settlement.state === 'retrying' ? 4 : 10;
    expect(settledDelivery(FULL, settlement, 10.5)).toEqual({ ...FULL, ...settlement, settledAt });
  });

  it('that is claimed from memory has all fields', async () => {
    const clock = new FakeClock();
    const queue = new MemoryQueue(clock);
    await queue.add([FULL]);
    await clock.advance(10);
    const { claims } = await queue.claim({ ...LANE, limit: 1, leaseMs: 10 });
    expect(claims[0]?.delivery).toEqual({ ...FULL, state: 'sending' });
  });
});
