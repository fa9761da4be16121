import { stat } from 'node:fs/promises';
import type { AudienceCatalog } from '../../audience/store.ts';
import type { Clock } from '../../clock.ts';
import type { DeadDropping } from '../../queue/inspection.ts';
import type { RetentionOptions } from '../../queue/retention.ts';
import { lossText } from './file/cut-commits.ts';
import { copyStore, giveBackSpace, settledBytes } from './file/free-space.ts';
import { openStore, type StoreOptions } from './file/open-store.ts';
import type { Sql, Store } from './file/store.ts';
import type { LaneId } from '../../queue/queue.ts';
import { makeLaneRowsDue } from './queue/sqlite-catch-up.ts';
import { SqliteInspection } from './queue/sqlite-inspection.ts';
import { SqliteQueue } from './queue/sqlite-queue.ts';
import { sweepDeliveries } from './queue/sqlite-sweep.ts';
import { recoverInto, type FileRecovery } from './recover.ts';
import { bindConfig, boundConfig } from './bound-config.ts';
import { SqliteAudienceStore } from './sqlite-audience-store.ts';
import { SqliteDeletionStore, forgetDeletions } from './sqlite-deletion-store.ts';
import { SqliteSeen } from './sqlite-seen.ts';
import { TABLES } from './tables.ts';
import { livingOwners } from './queue/owner.ts';

export { examineFile } from './examine.ts';
export { engineProblem } from './file/sqlite.ts';
export { findNewest } from './find-newest.ts';
export { openChunks } from './sqlite-chunk-store.ts';

export interface OpenQueueFileOptions extends Omit<StoreOptions, 'tables'> {
  /** How long settled deliveries are kept. @default forever */
  readonly retention?: RetentionOptions | undefined;
}

/**
 * Opens the queue and all other records in a file, which several processes may share. Throws ConfigError for a store that is
 * not a file, QueueError if the file fails.
 */
export async function openQueueFile(place: string, { retention, ...options }: OpenQueueFileOptions) {
  const { clock } = options;
  const store = await openStore(place, { ...options, tables: TABLES });
  return {
    store,
    file: fileOperations(store, clock),
    queue: new SqliteQueue({
      store,
      clock,
      ...(retention !== undefined && { retention: { ...retention, alsoForget: forgetDeletions } }),
    }),
    inspection: new SqliteInspection({ store, clock }),
    seen: new SqliteSeen(store, clock),
    deletions: new SqliteDeletionStore(store),
    audiences: async () => new SqliteAudienceStore(store, clock),
    sweep: () => sweepDeliveries(store),
    makeDue: (lane: LaneId, goesOn: () => boolean) => makeLaneRowsDue({ store, clock }, lane, goesOn),
    loss: lossText(store.found, store.file),
    madeFile: store.found.isNew ? store.file : undefined,
    isSameFile: (other: string) => isSameFile(store.file, other),
  };
}

/** Opens a file to use only its audiences, for a queue that is on a server. */
export async function openAudiences(
  place: string,
  clock: Clock,
): Promise<AudienceCatalog & { close(): Promise<void> }> {
  const store = await openStore(place, { clock, tables: TABLES });
  return Object.assign(new SqliteAudienceStore(store, clock), { close: () => store.close() });
}

/**
 * Copies the readable part of a queue's file to the new file `to`. Throws ConfigError if `to` exists, QueueError if nothing
 * can be read.
 */
export function recoverFile(
  from: string,
  { to, clock }: { to: string; clock: Clock },
): Promise<FileRecovery> {
  return recoverInto(from, { to, open: (file) => openQueueFile(file, { clock }) });
}

function fileOperations(store: Store, clock: Clock) {
  return {
    bindConfig: (config: string, options?: { readonly replaces?: boolean }) =>
      bindConfig(store, config, options),
    boundConfig: () => boundConfig(store),
    isDelivered: () => store.read((sql) => livingOwners(sql, clock.now()).length > 0),
    dropDead: (options: DeadDropping) => dropDead(store, options),
    giveBackSpace: (goesOn: () => boolean) => giveBackSpace(store, { goesOn }),
    copyTo: (to: string) => copyStore(store.file, to),
    settledBytes: () => settledBytes(store.file),
  };
}

async function isSameFile(path: string, otherPath: string): Promise<boolean> {
  const [file, other] = await Promise.all([path, otherPath].map((each) => stat(each, { bigint: true })));
  return file?.dev === other?.dev && file?.ino === other?.ino;
}

/** Number of dead letters to read in one transaction: few enough not to delay deliveries for long. */
const STEP = 500;

/**
 * Removes dead letters as described at QueueFile. Does not sync to the disk: if a power cut restores dead letters, the next
 * run removes them.
 */
export async function dropDead(store: Store, dropping: DeadDropping): Promise<void> {
  const { goesOn, onDropped } = dropping;
  let [dropped, last]: [number, number | undefined] = [0, 0];
  while (last !== undefined && goesOn()) {
    const after: number = last;
    const step = await store.write((sql) => dropStep(sql, dropping, after), { survives: 'exit' });
    dropped += step.dropped;
    last = step.last;
    onDropped(dropped);
  }
}

/** Removes the dead letters of one step. `last` is the seq after which the next step continues; undefined at the end. */
function dropStep(sql: Sql, { since, before }: DeadDropping, after: number) {
  const rows = sql(DEAD).all(after, STEP);
  const seqs = rows
    .filter(({ type }) => type !== 'delete')
    .filter(({ created_at: createdAt }) => Number(createdAt) >= since && Number(createdAt) < before)
    .map(({ seq }) => Number(seq));
  sql('DELETE FROM deliveries WHERE seq IN (SELECT value FROM json_each(?))').run(JSON.stringify(seqs));
  return { dropped: seqs.length, last: rows.length === STEP ? Number(rows.at(-1)?.['seq']) : undefined };
}

// The first condition makes SQLite use the index of undelivered rows. CROSS JOIN keeps it from scanning all deliveries.
const DEAD = `
  SELECT p.seq, d.type, d.created_at FROM progress p CROSS JOIN deliveries d ON d.seq = p.seq
  WHERE p.settled_state IS NOT 'delivered' AND p.settled_state IS 'dead' AND p.seq > ? ORDER BY p.seq LIMIT ?`;
