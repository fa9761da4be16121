import type { ChainableCommander, Redis } from 'ioredis';
import { BULLMQ_PREFIX } from '../bullmq-job.ts';
import type { SeriesEntries } from '../bullmq-series.ts';
import {
  DELAYED_STEP,
  ENTRY_FIELDS,
  READ_ENTRIES,
  READ_TIMES,
  REMOVE_ENTRIES,
  WAKE_ENTRIES,
} from './redis-entry-scripts.ts';
import { runScript } from './redis-script.ts';
import type { EntryState } from '../server.ts';
import { redisClaims, redisEntry, type RedisRow } from './redis-claims.ts';

/** Entries in one round trip. Each is a command of its own, so the server serves others in between. */
const READ_AT_ONCE = 1_000;
/** Entries in one script, with their bodies. */
const READ_BY_SCRIPT = 100;
/** Times in one script. */
const TIMES_BY_SCRIPT = 2_000;
const WOKEN_AT_ONCE = 200;
/** Fewer: one that was added last is searched for among all that wait. */
const REMOVED_AT_ONCE = 100;

/**
 * BullMQ's own `remove` searches the list of all that wait, for each id; what is removed most often was added first, and
 * stands where the search here begins. Its `promote` takes a command for each id. What only reads runs no script, which a
 * user who may only read must not; to the client a command costs ten times what it costs in a script.
 */
export function redisLookup(redis: Redis, series: string): SeriesEntries {
  const prefix = `${BULLMQ_PREFIX}:${series}:`;
  const keys = [prefix];
  const read = (ids: readonly string[], ask: (asking: ChainableCommander, id: string) => void) =>
    inSteps(ids, READ_AT_ONCE, (some) =>
      pipelined(redis, (asking) => {
        for (const id of some) ask(asking, id);
      }),
    );
  return {
    get: async (ids) => {
      const results = await read(ids, (asking, id) =>
        asking.hmget(prefix + id, ...ENTRY_FIELDS).exists(`${prefix}${id}:lock`),
      );
      const rowOf = (index: number): RedisRow => results[2 * index] as RedisRow; // as ENTRY_FIELDS has it
      return ids.map((id, index) => redisEntry(id, rowOf(index), results[2 * index + 1] === 1));
    },
    getToChange: async (ids) => {
      const rows = await inSteps(ids, READ_BY_SCRIPT, (args) =>
        runScript(redis, READ_ENTRIES, { keys, args }),
      );
      return rows.map((row, index) => {
        const [isLocked, ...fields] = row as [number, ...RedisRow]; // by the script
        return redisEntry(ids[index] ?? '', fields, isLocked === 1);
      });
    },
    ...redisClaims(redis, prefix),
    count: async (states, delayedBefore) => {
      const counts = await pipelined(redis, (asking) => {
        for (const state of states) count(asking, { prefix, state, delayedBefore });
      });
      return counts.map(Number);
    },
    ids: (state, start, end) => {
      const key = prefix + LISTS[state];
      return isList(state) ? redis.lrange(key, start, end) : redis.zrange(key, start, String(end));
    },
    remove: async (ids) => {
      const removed = await inSteps(ids, REMOVED_AT_ONCE, (args) =>
        runScript(redis, REMOVE_ENTRIES, { keys, args }),
      );
      return removed.map((each) => each === 1);
    },
    addedAt: async (ids) => {
      const times = await inSteps(ids, TIMES_BY_SCRIPT, (args) =>
        runScript(redis, READ_TIMES, { keys, args }),
      );
      return times.map((time) => (time === null ? undefined : Number(time)));
    },
    wake: async (state, entries) => {
      const woken = await inSteps(entries, WOKEN_AT_ONCE, (some) => {
        const args = some.flatMap(({ id, note }) => [id, note === undefined ? '' : JSON.stringify(note)]);
        return runScript(redis, WAKE_ENTRIES, { keys, args: [state, ...args] });
      });
      return woken.map((each) => each === 1);
    },
  };
}

/** Where the ids of each state are: lists, of which claims take the last, and sets by time. */
const LISTS = {
  waiting: 'wait',
  active: 'active',
  delayed: 'delayed',
  completed: 'completed',
  failed: 'failed',
} satisfies Record<EntryState, string>;

function isList(state: EntryState): boolean {
  return state === 'waiting' || state === 'active';
}

function count(
  asking: ChainableCommander,
  { prefix, state, delayedBefore }: { prefix: string; state: EntryState; delayedBefore: number | undefined },
): void {
  const key = prefix + LISTS[state];
  if (isList(state)) asking.llen(key);
  else if (state === 'delayed' && delayedBefore !== undefined) {
    asking.zcount(key, '-inf', `(${delayedBefore * DELAYED_STEP}`);
  } else asking.zcard(key);
}

/** Steps that are sent at once: the server serves others between two. */
const STEPS_TOGETHER = 10;

async function inSteps<T>(
  ids: readonly T[],
  size: number,
  act: (some: readonly T[]) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  const together = STEPS_TOGETHER * size;
  for (let at = 0; at < ids.length; at += together) {
    const steps: Promise<unknown>[] = [];
    for (let from = at; from < Math.min(at + together, ids.length); from += size) {
      steps.push(act(ids.slice(from, from + size)));
    }
    for (const ofStep of await Promise.all(steps)) results.push(...(ofStep as readonly unknown[])); // a list, by the scripts
  }
  return results;
}

/** The results of commands that are sent together. Throws the first error. */
async function pipelined(
  redis: Redis,
  ask: (asking: ChainableCommander) => void,
): Promise<readonly unknown[]> {
  const asking = redis.pipeline();
  ask(asking);
  const results = (await asking.exec()) ?? [];
  for (const [error] of results) if (error !== null) throw error;
  return results.map(([, result]) => result);
}
