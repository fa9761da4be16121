import { stat } from 'node:fs/promises';
import { loadSqlite } from './sqlite.ts';
import type { Sql, Store } from './store.ts';
import { storeError } from './store-error.ts';

/** Pages that one transaction gives back, 1 MB: few enough not to delay other writes. */
const STEP_PAGES = 256;

/** `PRAGMA auto_vacuum` of files that can give back space in steps: those that were made by version 0.2 or vacuumed since. */
const INCREMENTAL = 2;

export interface GivingBack {
  /** Left in the file for what is to come, as a part of what is in use. @default 0 */
  readonly keptShare?: number;
  /** Asked before each step. @default always */
  readonly goesOn?: () => boolean;
}

/**
 * Gives the space of what was deleted back to the file system, a step at a time between the writes of others. Does nothing in
 * a file that cannot do it in steps.
 */
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
  if (pragma(sql, 'auto_vacuum') !== INCREMENTAL) return 0;
  const free = pragma(sql, 'freelist_count');
  const used = pragma(sql, 'page_count') - free;
  return free - used * keptShare;
}

function pragma(sql: Sql, name: 'auto_vacuum' | 'freelist_count' | 'page_count'): number {
  return Number(sql(`PRAGMA ${name}`).get()?.[name]);
}

/** Whether `giveBackSpace` can do anything for the file. */
export function givesBackInSteps(store: Store): Promise<boolean> {
  return store.read((sql) => pragma(sql, 'auto_vacuum') === INCREMENTAL);
}

/**
 * Writes the whole file again without what is free in it, so that it gives back space in steps from then on. Blocks; others
 * wait for it, and it takes as much room as is in use, twice.
 * @throws QueueError when others hold the file for too long, or there is no room.
 */
export function rewriteStore(file: string): Promise<void> {
  return overOwnConnection(file, 'PRAGMA auto_vacuum = INCREMENTAL; VACUUM');
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
