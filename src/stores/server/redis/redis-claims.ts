import type { Redis } from 'ioredis';
import { toEntry, type JobFields } from '../bullmq-job.ts';
import type { SeriesEntries } from '../bullmq-series.ts';
import type { SeriesEntry, TakenEntry } from '../server.ts';
import {
  DELAYED_STEP,
  EXTEND_LOCKS,
  RECOVER_ENTRIES,
  TAKE_ENTRIES,
  WRITE_NOTE,
} from './redis-entry-scripts.ts';
import { runScript } from './redis-script.ts';

/** Entries in one script, with their bodies. */
const TAKEN_AT_ONCE = 100;

/** What is done with entries that a process takes: in scripts that a server runs although it is full, so that it empties by delivering. */
export function redisClaims(
  redis: Redis,
  prefix: string,
): Pick<SeriesEntries, 'take' | 'extend' | 'recover' | 'writeNote'> {
  const keys = [prefix];
  return {
    take: async (tokens, lockMs) => {
      const taken: TakenEntry[] = [];
      for (let at = 0; ; at += TAKEN_AT_ONCE) {
        const some = tokens.slice(at, at + TAKEN_AT_ONCE);
        const args = [String(Date.now()), String(Math.ceil(lockMs)), ...some];
        const [score, ...rows] = (await runScript(redis, TAKE_ENTRIES, { keys, args })) as TakenRows; // by the script
        taken.push(...rows.flatMap((row, index) => takenEntry(row, some[index] ?? '')));
        if (rows.length === some.length && at + some.length < tokens.length) continue;
        const nextDueAt = score === null ? undefined : Math.floor(Number(score) / DELAYED_STEP);
        return { taken, nextDueAt: taken.length === tokens.length ? undefined : nextDueAt };
      }
    },
    extend: async (locks, lockMs) => {
      const args = [String(Math.ceil(lockMs)), ...locks.flatMap(({ id, token }) => [id, token])];
      return (await runScript(redis, EXTEND_LOCKS, { keys, args })) as readonly string[]; // by the script
    },
    recover: async () => {
      await runScript(redis, RECOVER_ENTRIES, { keys, args: [] });
    },
    writeNote: async (id, note) => {
      await runScript(redis, WRITE_NOTE, { keys: [prefix + id], args: [JSON.stringify(note)] });
    },
  };
}

/** The score of the next delayed entry, and the id and the fields of each that was taken. */
type TakenRows = readonly [string | null, ...(readonly [string, ...RedisRow])[]];

/** None: the entry's fields are gone, as when a person has deleted its key. */
function takenEntry([id, ...row]: readonly [string, ...RedisRow], token: string): readonly TakenEntry[] {
  const entry = redisEntry(id, row, true);
  return entry === undefined ? [] : [{ entry, token }];
}

export type RedisRow = readonly [
  data: string | null,
  timestamp: string,
  finishedOn: string | null,
  failedReason: string | null,
  returnvalue: string | null,
  stacktrace: string | null,
  progress: string | null,
  takes: string | null,
  takenAt: string | null,
  name: string,
];

export function redisEntry(id: string, row: RedisRow, isLocked: boolean): SeriesEntry | undefined {
  const [data, timestamp, finishedOn, failedReason, returnvalue, stacktrace, progress, takes, takenAt, name] =
    row;
  if (data === null) return undefined;
  return toEntry({
    id,
    name,
    isLocked,
    data,
    timestamp: Number(timestamp),
    attemptsStarted: Number(takes ?? 0),
    ...(takenAt !== null && { processedOn: Number(takenAt) }),
    ...(finishedOn !== null && { finishedOn: Number(finishedOn) }),
    failedReason: failedReason ?? '',
    returnvalue: returnvalue ?? '',
    stacktrace: stacktrace ?? '',
    progress: JSON.parse(progress ?? '0') as JobFields['progress'], // written by writeNote, or BullMQ's 0
  });
}
