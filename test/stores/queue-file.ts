import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { systemClock, type Clock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../src/stores/sqlite/file/store.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { SqliteInspection } from '../../src/stores/sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue, type SqliteQueueOptions } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Returns the path of a queue's file in a new temporary folder. */
export function newQueueFile(): string {
  return join(temporaryFolder(), 'hooks.db');
}

/** Opens the queue of a file in real time. */
export function openQueueIn(file: string): Promise<DurableQueue> {
  return openDurableQueue({ store: file, dataDir: '', clock: systemClock });
}

/** The queue of a file, as its processes see it. */
export interface OpenedFile {
  readonly file: string;
  readonly store: Store;
  readonly queue: SqliteQueue;
  readonly inspection: SqliteInspection;
  readonly close: () => Promise<void>;
}

export interface OpenFileOptions {
  readonly clock?: Clock;
  readonly retention?: NonNullable<SqliteQueueOptions['retention']>;
  /** Replaces members of the store that the queue uses. */
  readonly change?: (store: Store) => Partial<Store>;
}

/** Opens a file with the tables of queues alone. Closes it when the test ends. */
export async function openQueueFile(
  file = newQueueFile(),
  { clock = systemClock, retention, change = () => ({}) }: OpenFileOptions = {},
): Promise<OpenedFile> {
  const store = await openStore(file, { clock, tables: [QUEUE_TABLES] });
  const changed = changedStore(store, change(store));
  const queue = new SqliteQueue({ store: changed, clock, ...(retention && { retention }) });
  const close = async (): Promise<void> => {
    await queue.close();
    await store.close();
  };
  onTestFinished(close);
  return { file, store, queue, inspection: new SqliteInspection({ store: changed, clock }), close };
}

function changedStore(store: Store, changes: Partial<Store>): Store {
  return {
    file: store.file,
    found: store.found,
    room: store.room,
    get writtenAt() {
      return store.writtenAt;
    },
    get version() {
      return store.version;
    },
    write: (work, options) => store.write(work, options),
    read: (work) => store.read(work),
    check: (options) => store.check(options),
    close: () => store.close(),
    ...changes,
  };
}
