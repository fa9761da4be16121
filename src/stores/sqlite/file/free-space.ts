import { stat } from 'node:fs/promises';
import { withDatabase } from './sqlite.ts';
import type { Sql, Store } from './store.ts';
import { storeError } from './store-error.ts';

/** Pages to return to the file system in one transaction (1 MB): few enough not to delay other writes. */
const STEP_PAGES = 256;

export interface GivingBack {
  /** Free space to keep in the file, as a share of the used space. @default 0 */
  readonly keptShare?: number;
  /** Called before each step of giving back space. Returns whether to continue. */
  readonly goesOn: () => boolean;
}

/** Returns free pages of the file to the file system, in steps between other processes' writes. */
export async function giveBackSpace(store: Store, { keptShare = 0, goesOn }: GivingBack): Promise<void> {
  let steps = await store.read((sql) => Math.floor(sparePages(sql, keptShare) / STEP_PAGES));
  for (; steps > 0 && goesOn(); steps--) {
    await store.write((sql) => void sql(`PRAGMA incremental_vacuum(${STEP_PAGES})`).all(), {
      survives: 'exit',
    });
  }
}

function sparePages(sql: Sql, keptShare: number): number {
  const free = pragma(sql, 'freelist_count');
  const used = pragma(sql, 'page_count') - free;
  return free - used * keptShare;
}

function pragma(sql: Sql, name: 'freelist_count' | 'page_count'): number {
  return Number(sql(`PRAGMA ${name}`).get()?.[name]);
}

/** Writes the write-ahead log into the file, and truncates the file to the used pages. Returns its size in bytes. */
export async function settledBytes(file: string): Promise<number> {
  await overOwnConnection(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  return (await stat(file)).size;
}

/** Runs SQL that cannot run in a transaction, over a connection of its own. */
async function overOwnConnection(file: string, sql: string): Promise<void> {
  try {
    await withDatabase(file, { timeout: LOCK_WAIT_MS }, (database) => database.exec(sql));
  } catch (error) {
    throw storeError(error, file);
  }
}

/** Copies a snapshot of the store into an empty file, while other processes write. Leaves out free pages. */
export function copyStore(file: string, to: string): Promise<void> {
  return overOwnConnection(file, `VACUUM INTO '${to.replaceAll("'", "''")}'`);
}

const LOCK_WAIT_MS = 10_000;
