// A process that adds one delivery after the other, while its disk fails (faults.test.ts). Prints the acknowledged and the
// rejected deliveries, whether the write-ahead log was restarted, and which of both are in the file, before and after it is
// opened again.
import { statSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { HooksError } from '../../src/errors.ts';
import { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../src/stores/sqlite/file/store.ts';
import { newDelivery } from './new-delivery.ts';

const { file, adds } = JSON.parse(process.argv[2] ?? '{}') as { file: string; adds: number }; // from faults.test.ts

const acknowledged: string[] = [];
const rejections = new Set<string>();
const logSizes: number[] = [];

const store = await open();
await add(store);
const before = await idsIn(store);
await store.close();
const again = await open();
const after = await idsIn(again);
await again.close();
const isLogNew = logSizes.some((bytes, index) => bytes < (logSizes[index - 1] ?? 0));
process.stdout.write(
  `${JSON.stringify({ acknowledged, rejections: [...rejections], isLogNew, before, after })}\n`,
);

function open(): Promise<Store> {
  return openStore(file, { clock: systemClock, tables: [QUEUE_TABLES] });
}

async function add(to: Store): Promise<void> {
  const queue = new SqliteQueue({ store: to, clock: systemClock });
  const body = Buffer.alloc(3_000);
  for (let count = 0; count < adds; count++) {
    const id = `${count}`;
    try {
      await queue.add([newDelivery(id, { body })]);
      acknowledged.push(id);
      logSizes.push(statSync(`${file}-wal`).size);
    } catch (error) {
      rejections.add(error instanceof HooksError ? error.message : String(error));
    }
  }
  await queue.close();
}

function idsIn(from: Store): Promise<string[]> {
  return from.read((sql) =>
    sql('SELECT id FROM deliveries ORDER BY seq')
      .all()
      .map(({ id }) => String(id)),
  );
}
