import { describe, expect, it } from 'vitest';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import type { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { openQueueFile } from '../stores/queue-file.ts';
import { LANE, newDelivery } from './new-delivery.ts';

const openOn = (isScarce: boolean) =>
  openQueueFile(undefined, { change: () => ({ room: { isScarce, keepReserve: () => {} } }) });

async function deliverAll(queue: SqliteQueue): Promise<void> {
  const { claims } = await queue.claim({ ...LANE, limit: 100, leaseMs: 10_000 });
  for (const claim of claims) await queue.settle(claim, { state: 'delivered', progress: NO_PROGRESS });
}

describe('settled deliveries', () => {
  it('are removed on a nearly full disk when others settle, except for deletion requests', async () => {
    const { queue, file } = await openOn(true);
    await queue.add(Array.from({ length: 50 }, (_, index) => newDelivery(`d${index}`)));
    await queue.add([newDelivery('deletion', { type: 'delete' })]);
    await queue.add([newDelivery('dead', { state: 'dead', reason: 'rejected' })]);
    await queue.add([newDelivery('waits', { dueAt: Date.now() + 100_000 })]);
    await deliverAll(queue);
    expect(await ask(file, 'SELECT id FROM deliveries ORDER BY seq')).toEqual(['deletion', 'dead', 'waits']);
    expect(await ask(file, 'SELECT deliveries, delivered, dead FROM lane_counts')).toEqual(['3|1|1']);
  });

  it('are kept on other disks', async () => {
    const { queue, file } = await openOn(false);
    await queue.add([newDelivery('a'), newDelivery('b')]);
    await deliverAll(queue);
    expect(await ask(file, 'SELECT count(*) FROM deliveries')).toEqual(['2']);
  });
});
