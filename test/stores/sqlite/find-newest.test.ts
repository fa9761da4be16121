import { join } from 'node:path';
import { expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { findNewestDeliveries, openDurableQueue } from '../../../src/stores/open.ts';
import { newDelivery } from '../../queue/new-delivery.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

it('finds the newest deliveries of an open queue, at most as many as asked for', async () => {
  const dataDir = temporaryFolder();
  const queue = await openDurableQueue({ store: undefined, dataDir, clock: systemClock });
  try {
    await queue.queue.add(Array.from({ length: 60 }, (_, index) => newDelivery(`id-${index + 100}`)));
    await queue.queue.add([newDelivery('dead', { state: 'dead', reason: 'exhausted' }), newDelivery('ie')]);
    const find = async (start: string, limit: number) => {
      const selection = { start, limit, onlyDead: false };
      const found = await findNewestDeliveries(join(dataDir, 'hooks.db'), selection);
      return found.map(({ id, state }) => `${id} ${state}`);
    };
    expect(await find('', 3)).toEqual(['dead dead', 'ie pending', 'id-159 pending']);
    expect(await find('id-10', 50)).toHaveLength(10);
    expect(await find('id-1', 50)).toHaveLength(50);
    expect(await find("id-1' OR 1", 50)).toEqual([]);
  } finally {
    await queue.close();
  }
});
