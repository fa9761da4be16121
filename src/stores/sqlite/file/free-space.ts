import { stat } from 'node:fs/promises';
import { loadSqlite } from './sqlite.ts';
import type { Sql, Store } from './store.ts';
import { storeError } from './store-error.ts';

/** Pages that one transaction gives back, 1 MB: few enough not to delay other writes. */
const STEP_PAGES = 256;

export interface GivingBack {
  /** Left in the file for what is to come, as a part of what is in use. @default 0 */
  readonly keptShare?: number;
  /** Asked before each step. @default always */
  readonly goesOn?: () => boolean;
}

/** Gives the space of what was deleted back to the file system, a step at a time between the writes of others. */
export async function giveBackSpace(
  store: Store,
  { keptShare = 0, goesOn = () => true }: GivingBack = {},
): Promise<void> {
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

/** Has the log written into the file, which is cut to what is in use. Returns its size then. */
export async function settledBytes(file: string): Promise<number> {
  await overOwnConnection(file, 'PRAGMA wal_checkpoint(TRUNCATE)');
  return (await stat(file)).size;
}

/** Runs SQL that no transaction of the store can. */
async function overOwnConnection(file: string, sql: string): Promise<void> {
  const { DatabaseSync } = await loadSqlite();
  try {
    const database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  } catch (error) {
    throw storeError(error, file);
  }
}

/** Copies the store as it is at one moment into an empty file, while others go on writing. Without what is free in it. */
export function copyStore(file: string, to: string): Promise<void> {
  return overOwnConnection(file, `VACUUM INTO '${to.replaceAll("'", "''")}'`);
}

const LOCK_WAIT_MS = 10_000;
