import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../src/stores/sqlite/file/store.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LANE, newDelivery } from './new-delivery.ts';

async function open(isScarce: boolean): Promise<{ readonly queue: SqliteQueue; readonly file: string }> {
  const file = join(temporaryFolder(), 'hooks.db');
  const store = await openStore(file, { clock: systemClock, tables: [QUEUE_TABLES] });
  const scarce: Store = {
    file,
    room: { isScarce, keepReserve: () => {} },
    found: store.found,
    write: (work, options) => store.write(work, options),
    read: (work) => store.read(work),
    check: () => store.check(),
    version: undefined,
    close: () => store.close(),
  };
  const queue = new SqliteQueue({ store: scarce, clock: systemClock });
  onTestFinished(async () => {
    await queue.close();
    await store.close();
  });
  return { queue, file };
}

async function deliverAll(queue: SqliteQueue): Promise<void> {
  const { claims } = await queue.claim({ ...LANE, limit: 100, leaseMs: 10_000 });
  for (const claim of claims) await queue.settle(claim, { state: 'delivered', progress: NO_PROGRESS });
}

describe('settled deliveries', () => {
  it('are removed on a nearly full disk when others settle, except for deletion requests', async () => {
    const { queue, file } = await open(true);
    await queue.add(Array.from({ length: 50 }, (_, index) => newDelivery(`d${index}`)));
    await queue.add([newDelivery('deletion', { type: 'delete' })]);
    await queue.add([newDelivery('dead', { state: 'dead', reason: 'rejected' })]);
    await queue.add([newDelivery('waits', { dueAt: Date.now() + 100_000 })]);
    await deliverAll(queue);
    expect(await ask(file, 'SELECT id FROM deliveries ORDER BY seq')).toEqual(['deletion', 'dead', 'waits']);
    expect(await ask(file, 'SELECT deliveries, delivered, dead FROM lane_counts')).toEqual(['3|1|1']);
  });

  it('are kept on other disks', async () => {
    const { queue, file } = await open(false);
    await queue.add([newDelivery('a'), newDelivery('b')]);
    await deliverAll(queue);
    expect(await ask(file, 'SELECT count(*) FROM deliveries')).toEqual(['2']);
  });
});
