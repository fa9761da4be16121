import type { ChainableCommander, Redis } from 'ioredis';
import type { IQueueBackend, JobJson } from 'bullmq';
import { BULLMQ_PREFIX, toEntry, type JobFields } from '../bullmq-job.ts';
import type { EntryLookup } from '../bullmq-series.ts';
import {
  ENTRY_FIELDS,
  READ_ENTRIES,
  READ_TIMES,
  REMOVE_ENTRIES,
  WAKE_ENTRIES,
} from './redis-entry-scripts.ts';
import { runScript } from './redis-script.ts';
import type { EntryState, Taken, TakenEntry } from '../server.ts';

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
export function redisLookup(redis: Redis, series: string): EntryLookup {
  const prefix = `${BULLMQ_PREFIX}:${series}:`;
  const keys = [prefix];
  const read = (ids: readonly string[], ask: (asking: ChainableCommander, id: string) => void) =>
    inSteps(ids, READ_AT_ONCE, (some) =>
      pipelined(redis, (asking) => {
        for (const id of some) ask(asking, id);
      }),
    );
  return {
    fields: async (ids) => {
      const results = await read(ids, (asking, id) =>
        asking.hmget(prefix + id, ...ENTRY_FIELDS).exists(`${prefix}${id}:lock`),
      );
      return ids.map((id, index) => toFields(id, results[2 * index] as Row, results[2 * index + 1] === 1)); // as ENTRY_FIELDS has it
    },
    fieldsToRemove: async (ids) => {
      const rows = await inSteps(ids, READ_BY_SCRIPT, (args) =>
        runScript(redis, READ_ENTRIES, { keys, args }),
      );
      return rows.map((row, index) => {
        const [isLocked, ...fields] = row as [number, ...Row]; // by the script
        return toFields(ids[index] ?? '', fields, isLocked === 1);
      });
    },
    take: (tokens, open) => take({ redis, prefix }, tokens, open),
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

async function take(
  { redis, prefix }: { readonly redis: Redis; readonly prefix: string },
  tokens: readonly string[],
  open: () => Promise<IQueueBackend>,
): Promise<Taken> {
  const ready = await readyIn(redis, prefix);
  const backend = await open();
  const results = await Promise.all(
    tokens.slice(0, ready).map(async (token) => takenEntry(await backend.moveToActive(token), token)),
  );
  const taken = results.filter((each) => each !== undefined);
  return {
    taken,
    nextDueAt: taken.length === tokens.length ? undefined : await nextDueIn(redis, prefix),
  };
}

/** How many may be taken now. To ask costs less than a script that finds none. */
async function readyIn(redis: Redis, prefix: string): Promise<number> {
  const due = (Date.now() + 1) * DELAYED_STEP - 1;
  const counts = await pipelined(redis, (asking) =>
    asking.llen(`${prefix}wait`).zcount(`${prefix}delayed`, '-inf', String(due)),
  );
  return counts.reduce((sum: number, each) => sum + Number(each), 0);
}

async function nextDueIn(redis: Redis, prefix: string): Promise<number | undefined> {
  const [, score] = await redis.zrange(`${prefix}delayed`, '0', '0', 'WITHSCORES');
  return score === undefined ? undefined : Math.floor(Number(score) / DELAYED_STEP);
}

function takenEntry(result: unknown[], token: string): TakenEntry | undefined {
  const [fields, id] = result as [JobJson | null | undefined, string]; // a tuple of BullMQ
  return fields ? { entry: toEntry({ ...fields, id, isLocked: true }), token } : undefined;
}

/** Where the ids of each state are: lists, of which claims take the last, and sets by time. */
const LISTS = {
  waiting: 'wait',
  active: 'active',
  delayed: 'delayed',
  completed: 'completed',
  failed: 'failed',
} satisfies Record<EntryState, string>;
/** The scores of delayed ones are times with twelve more bits, of the order of adding. */
const DELAYED_STEP = 0x1000;

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

type Row = readonly [
  data: string | null,
  timestamp: string,
  finishedOn: string | null,
  failedReason: string | null,
  returnvalue: string | null,
  stacktrace: string | null,
  progress: string | null,
  takes: string | null,
  takenAt: string | null,
];

function toFields(id: string, row: Row, isLocked: boolean): JobFields | undefined {
  const [data, timestamp, finishedOn, failedReason, returnvalue, stacktrace, progress, takes, takenAt] = row;
  if (data === null) return undefined;
  return {
    id,
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
  };
}
