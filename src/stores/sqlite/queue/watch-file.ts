import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Clock } from '../../../clock.ts';
import type { LaneId } from '../../../queue/queue.ts';
import type { Store } from '../file/store.ts';
import { laneOf } from './sqlite-rows.ts';

/** Milliseconds from a write to the first look. Each further look waits twice as long, up to LONGEST_MS. */
const SHORTEST_MS = 2;
/** Milliseconds to the first look if this process has committed in this time: the write is then most likely its own. */
const OWN_MS = 16;
/** Longer than most disks take to sync a commit: other processes see a commit only after its sync. */
const LONGEST_MS = 64;

/**
 * Calls `onAdded` with each lane that has a claimable delivery after another process has changed the file. The file system
 * reports writes to the log, and a few looks at the version of the file then find out when a commit is complete. Looking
 * every 5 ms instead would take 2 % of a processor while nothing happens. Does not keep the process alive. Returns a
 * function that ends the calls.
 */
export function watchFile(store: Store, clock: Clock, onAdded: (lane: LaneId) => void): () => void {
  let seen = store.version;
  let waitMs = LONGEST_MS;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    timer = undefined;
    const { version } = store;
    if (waitMs < LONGEST_MS) lookAfter(2 * waitMs);
    if (version === undefined || version === seen) return;
    seen = version;
    // A failed read is ignored, because the next claim reports a lasting failure.
    const rows = await store.read((sql) => sql(CLAIMABLE_LANES).all(clock.now())).catch(() => []);
    for (const lane of rows.map(laneOf)) onAdded(lane);
  };
  const lookAfter = (ms: number): void => {
    clearTimeout(timer);
    waitMs = ms;
    timer = setTimeout(() => void look(), ms).unref();
  };
  const log = `${basename(store.file)}-wal`;
  const end = watchFolder(dirname(store.file), (name) => {
    if (name !== log) return;
    const isOwn = clock.now() - store.writtenAt < OWN_MS;
    if (timer === undefined) lookAfter(isOwn ? OWN_MS : SHORTEST_MS);
    else if (!isOwn && waitMs > SHORTEST_MS) lookAfter(SHORTEST_MS);
  });
  return () => {
    end();
    clearTimeout(timer);
  };
}

/** Calls `onWrite` with the names of changed files, unless the system cannot watch folders. Returns a function that stops. */
function watchFolder(folder: string, onWrite: (name: string | null) => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => onWrite(name));
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    return () => {};
  }
}

const CLAIMABLE_LANES = `
  SELECT source, destination FROM lanes WHERE EXISTS (
    SELECT 1 FROM waiting w WHERE w.lane = lanes.lane AND w.due_at <= ?
      AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.seq = w.seq))`;
