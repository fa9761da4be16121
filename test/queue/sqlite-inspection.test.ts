import { join } from 'node:path';
import { SqliteInspection } from '../../src/queue/sqlite-inspection.ts';
import { SqliteQueue } from '../../src/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../src/queue/tables.ts';
import { openStore } from '../../src/store/open-store.ts';
import { FakeClock } from '../fake-clock.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { inspectionConformance } from './inspection-conformance.ts';

inspectionConformance('SqliteQueue', async () => {
  const clock = new FakeClock();
  const file = join(temporaryFolder(), 'hooks.db');
  const [store, other] = await Promise.all(
    [1, 2].map(() => openStore(file, { clock, tables: [QUEUE_TABLES] })),
  );
  if (store === undefined || other === undefined) throw new Error('not opened');
  const queue = new SqliteQueue({ store, clock });
  return {
    queue,
    inspection: new SqliteInspection({ store: other, clock }),
    clock,
    close: async () => {
      await queue.close();
      await Promise.all([store.close(), other.close()]);
    },
  };
});
