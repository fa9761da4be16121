import { stat } from 'node:fs/promises';
import { ConfigError } from '../../errors.ts';
import { recoverDeliveries, type RecoveryCounts } from './queue/sqlite-recovery.ts';
import { DamagedFile } from './damaged-file.ts';
import type { Queue } from '../../queue/queue.ts';
import type { Store } from './file/store.ts';
import { fileOf } from './file/open-store.ts';

interface OpenFile {
  readonly queue: Queue;
  readonly store: Store;
}

export interface FileRecovery extends RecoveryCounts {
  /** Contents of the tables other than deliveries that could not be read completely. */
  readonly incomplete: readonly string[];
  readonly from: string;
  readonly to: string;
}

/** The contents of each table, as people call them. Tables that refer to others come after them. */
const OTHER_TABLES = {
  seen: 'messages seen',
  deletion_requests: 'deletion requests',
  deletion_sources: 'deletion requests',
  deletion_deliveries: 'deletion requests',
  audiences: 'audiences',
  audience_partitions: 'audiences',
} as const;

/**
 * Copies what can be read of the file of a queue to a new one; the file is left as it is. Throws ConfigError when there is
 * something at `to`, QueueError when nothing at all can be read.
 */
export async function recoverInto(
  given: string,
  { to, open }: { to: string; open: (file: string) => Promise<OpenFile> },
): Promise<FileRecovery> {
  const [file, target] = [fileOf(given), fileOf(to)];
  await assertNew(target);
  const from = await DamagedFile.open(file);
  try {
    const durable = await open(target);
    try {
      const counts = await recoverDeliveries(from, durable.queue);
      const incomplete = new Set<string>();
      for (const [table, what] of Object.entries(OTHER_TABLES)) {
        if (!(await from.copy(table, durable.store))) incomplete.add(what);
      }
      return { ...counts, incomplete: [...incomplete], from: file, to: target };
    } finally {
      await durable.queue.close();
      await durable.store.close();
    }
  } finally {
    from.close();
  }
}

async function assertNew(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return;
  throw new ConfigError(`Expected \`--to\` to be a new file, got ${target}, which is there already`, {
    flag: '--to',
    hint: 'name a file that does not exist yet, and put it in the place of the damaged one afterwards',
  });
}
