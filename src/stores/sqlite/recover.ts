import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../../errors.ts';
import { nameNewFile, syncFolder } from '../../files.ts';
import { recoverDeliveries, type RecoveryCounts } from './queue/sqlite-recovery.ts';
import { DamagedFile, type KeyStart } from './damaged-file.ts';
import { damagedCommits, lossText, lostPages } from './file/cut-commits.ts';
import { removeStore, sizeOf } from './file/files.ts';
import { settledBytes } from './file/free-space.ts';
import { assertOwnFile } from './file/ownership.ts';
import { sqliteError, storeError } from './file/store-error.ts';
import type { Queue } from '../../queue/queue.ts';
import type { Store } from './file/store.ts';
import { fileOf } from './file/open-store.ts';

interface OpenFile {
  readonly queue: Queue;
  readonly store: Store;
}

export interface FileRecovery extends RecoveryCounts {
  /** Names of the contents, such as `audiences`, of which some rows could not be read. */
  readonly incomplete: readonly string[];
  readonly from: string;
  readonly to: string;
  /** A sentence about what the log of the file has lost. Undefined if nothing is lost. */
  readonly loss: string | undefined;
}

/**
 * The tables besides those of deliveries, with a name for their content and with their key. A table comes after the tables
 * that it refers to.
 */
const OTHER_TABLES: Readonly<Record<string, readonly [what: string, start: KeyStart]>> = {
  seen: ['messages seen', { source: '', message_id: '' }],
  deletion_requests: ['deletion requests', { id: '' }],
  deletion_sources: ['deletion requests', { request: '', source: '' }],
  deletion_deliveries: ['deletion requests', { request: '', source: '', delivery: '' }],
  audiences: ['audiences', { audience: -1 }],
  audience_partitions: ['audiences', { audience: -1, partition: -1 }],
};

/**
 * Copies the readable part of a queue's file to the new file `to`, and leaves the original unchanged. Throws ConfigError if
 * `to` exists, QueueError if nothing can be read.
 */
export async function recoverInto(
  given: string,
  { to, open }: { to: string; open: (file: string) => Promise<OpenFile> },
): Promise<FileRecovery> {
  const [file, target] = [fileOf(given), fileOf(to)];
  await assertNew(target);
  const part = `${target}.part`;
  // An earlier recovery that was killed has left its unfinished file.
  if (await sizeOf(part)) {
    await assertOwnFile(part).catch((error: unknown) => Promise.reject(storeError(error, part)));
  }
  await removeStore(part);
  const found = { wasEmpty: false, lostPages: lostPages(file), cutCommits: damagedCommits(file) };
  const from = await DamagedFile.open(file);
  try {
    const counts = await copyInto(await open(part), from);
    if (await sizeOf(`${part}-wal`)) throw storeError(sqliteError('database is locked'), part);
    nameNewFile(part, target);
    await syncFolder(dirname(target));
    return { ...counts, from: file, to: target, loss: lossText(found, file) };
  } finally {
    from.close();
    await removeStore(part);
  }
}

async function copyInto(
  { queue, store }: OpenFile,
  from: DamagedFile,
): Promise<Omit<FileRecovery, 'from' | 'to' | 'loss'>> {
  try {
    const counts = await recoverDeliveries(from, queue);
    const incomplete = new Set<string>();
    for (const [table, [what, start]] of Object.entries(OTHER_TABLES)) {
      if (!(await from.copy(table, start, store))) incomplete.add(what);
    }
    await settledBytes(store.file);
    return { ...counts, incomplete: [...incomplete] };
  } finally {
    await queue.close();
    await store.close();
  }
}

async function assertNew(target: string): Promise<void> {
  const found = await stat(target).catch(() => undefined);
  if (found === undefined) return;
  throw new ConfigError(`Expected \`--to\` to be a new file, got ${target}, which exists already`, {
    flag: '--to',
    hint: 'name a file that does not exist yet, and replace the damaged one with it afterwards',
  });
}
