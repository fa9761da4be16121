import type { ChainableCommander, Redis } from 'ioredis';
import { toEntry } from '../bullmq-job.ts';
import { DELAYED_STEP, FIELD, IDS_KEY, LOCK_END, PREFIX, READ_FIELD } from '../bullmq-layout.ts';
import { inOneTurn, toError } from '../in-one-turn.ts';
import { inParts } from '../in-parts.ts';
import { type EntryState, type InLines, type Series, type SeriesEntry, type TakenEntry } from '../server.ts';
import { runScript, type RedisScript } from './redis-script.ts';
import {
  DELAY_ENTRY,
  EXTEND_LOCKS,
  FORGET_ENTRIES,
  HOLD_ENTRIES,
  RECOVER_ENTRIES,
  REMOVE_ENTRIES,
  SETTLE_ENTRIES,
  TAKE_ENTRIES,
  WAKE_ENTRIES,
} from './redis-scripts.ts';

/** Maximum number of entries that one call of a script changes, which then takes a few milliseconds. */
const AT_ONCE = 100;
/** Maximum number of entries to read in one round trip. */
const READ_AT_ONCE = 1_000;

export function redisSeries(redis: Redis, series: string): Series {
  return { ...changes(redis, keyOf(series)), ...lookup(redis, keyOf(series)) };
}

type Lookup = Pick<Series, 'get' | 'addedAt' | 'count' | 'ids'>;

function changes(redis: Redis, prefix: string): Omit<Series, keyof Lookup> {
  const run = (script: RedisScript, ...args: readonly (string | number)[]): Promise<unknown> =>
    runScript(redis, script, prefix, args);
  /** Runs a script for many entries, AT_ONCE in each call, so that the server serves others in between. */
  const runForEach = <T, R>(
    script: RedisScript,
    all: readonly T[],
    argsOf: (each: T) => Args,
    first: Args = [],
  ): Promise<readonly R[]> =>
    inParts(all, AT_ONCE, async (some) => {
      const results = await run(script, ...first, ...some.flatMap(argsOf));
      return results as readonly R[]; // the scripts return lists
    });
  const settle = inOneTurn<Args, boolean>(AT_ONCE, async (all) => {
    const results = await runForEach<Args, unknown>(SETTLE_ENTRIES, all, (args) => args);
    // Redis before version 7 returns an error inside a list as text.
    return results.map((each) => (each === 0 || each === 1 ? each === 1 : toError(each)));
  });
  return {
    take: async (tokens, lockMs) => {
      const taken: TakenEntry[] = [];
      for (let at = 0; ; at += AT_ONCE) {
        const some = tokens.slice(at, at + AT_ONCE);
        const result = await run(TAKE_ENTRIES, Date.now(), Math.ceil(lockMs), ...some);
        const [score, ...rows] = result as [string | null, ...[string, RedisRow][]]; // the script returns it
        for (const [index, [id, row]] of rows.entries()) {
          const entry = redisEntry(id, row, true);
          if (entry !== undefined) taken.push({ entry, token: some[index] ?? '' });
        }
        if (rows.length === some.length && at + some.length < tokens.length) continue;
        const nextDueAt = score === null ? undefined : Math.floor(Number(score) / DELAYED_STEP);
        return { taken, nextDueAt: taken.length === tokens.length ? undefined : nextDueAt };
      }
    },
    hold: (locks) =>
      runForEach(HOLD_ENTRIES, locks, (each) => [each.id, each.token, jsonOf(each.note), ...linesOf(each)]),
    extend: (locks, lockMs) =>
      runForEach(EXTEND_LOCKS, locks, ({ id, token, note }) => [id, token, jsonOf(note)], [
        Math.ceil(lockMs),
      ]),
    settle: (lock, { note, reason = '' }) => {
      const key = reason === '' ? IDS_KEY.completed : IDS_KEY.failed;
      return settle([lock.id, lock.token, key, Date.now(), jsonOf(note), reason, ...linesOf(lock)]);
    },
    delay: async ({ id, token }, { dueAt, note }) =>
      (await run(DELAY_ENTRY, id, token, Math.ceil(dueAt), jsonOf(note))) === 1,
    recover: async () => void (await run(RECOVER_ENTRIES)),
    wake: async (state, entries) => {
      const argsOf = (each: (typeof entries)[number]): Args => [each.id, jsonOf(each.note), ...linesOf(each)];
      return (await runForEach(WAKE_ENTRIES, entries, argsOf, [IDS_KEY[state]])).map((each) => each === 1);
    },
    remove: async (entries) => {
      const removed = await runForEach(REMOVE_ENTRIES, entries, (each) => [each.id, ...linesOf(each)]);
      return removed.map((each) => each === 1);
    },
    forget: async (state, before) =>
      (await run(FORGET_ENTRIES, IDS_KEY[state], Math.floor(before), READ_AT_ONCE)) === READ_AT_ONCE,
  };
}

/** Queries use commands instead of scripts, because a read-only user may not run scripts. */
function lookup(redis: Redis, prefix: string): Lookup {
  /** Sends commands for each item, and returns the results of all commands. Throws the first error. */
  const askForEach = <T>(
    all: readonly T[],
    ask: (asking: ChainableCommander, each: T) => unknown,
  ): Promise<readonly unknown[]> =>
    inParts(all, READ_AT_ONCE, (some) => {
      const asking = redis.pipeline();
      for (const each of some) ask(asking, each);
      return resultsOf(asking);
    });
  return {
    get: async (ids) => {
      const results = await askForEach(ids, (asking, id) =>
        asking.hmget(prefix + id, ...Object.values(READ_FIELD)).exists(prefix + id + LOCK_END),
      );
      const rowOf = (index: number): RedisRow => results[2 * index] as RedisRow; // in the order of READ_FIELD
      return ids.map((id, index) => redisEntry(id, rowOf(index), results[2 * index + 1] === 1));
    },
    addedAt: async (ids) => {
      const times = await askForEach(ids, (asking, id) => asking.hget(prefix + id, FIELD.addedAt));
      return times.map((time) => (time === null ? undefined : Number(time)));
    },
    count: async (states, delayedBefore = Infinity) => {
      const counts = await askForEach(states, (asking, state) => {
        const key = prefix + IDS_KEY[state];
        if (isList(state)) return asking.llen(key);
        const end = state === 'delayed' ? delayedBefore * DELAYED_STEP : Infinity;
        return asking.zcount(key, '-inf', end === Infinity ? '+inf' : `(${end}`);
      });
      return counts.map(Number);
    },
    ids: (state, start, end) => {
      const key = prefix + IDS_KEY[state];
      return isList(state) ? redis.lrange(key, start, end) : redis.zrange(key, start, String(end));
    },
  };
}

/** Key prefix of a series. */
export function keyOf(series: string): string {
  return `${PREFIX}:${series}:`;
}

type Args = readonly (string | number)[];

/** The lines of an entry as arguments of a script. */
export function linesOf({ lines = [] }: InLines): Args {
  return [lines.length, ...lines];
}

function jsonOf(note: string | undefined): string {
  return note === undefined ? '' : JSON.stringify(note);
}

function isList(state: EntryState): boolean {
  return state === 'waiting' || state === 'active';
}

type RedisRow = readonly (string | null)[];

/** Reads an entry from the values of READ_FIELD; undefined if the entry does not exist. */
function redisEntry(id: string, row: RedisRow, isLocked: boolean): SeriesEntry | undefined {
  const [data, timestamp, settledAt, failedReason, returnvalue, stacktrace, progress, ats, takenAt, name] =
    row;
  if (data === undefined || data === null) return undefined;
  return toEntry({
    id,
    name: name ?? '',
    isLocked,
    data,
    addedAt: Number(timestamp),
    takes: Number(ats ?? 0),
    takenAt: timeOf(takenAt),
    settledAt: timeOf(settledAt),
    failedReason,
    returnvalue,
    stacktrace,
    progress,
  });
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : Number(text);
}

export async function resultsOf(asking: ChainableCommander): Promise<readonly unknown[]> {
  const results = (await asking.exec()) ?? [];
  for (const [error] of results) if (error !== null) throw error;
  return results.map(([, result]) => result);
}
