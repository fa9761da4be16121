import type { ChainableCommander, Redis } from 'ioredis';
import type { JobJson } from 'bullmq';
import { BULLMQ_PREFIX, toEntry, type JobFields } from '../bullmq-job.ts';
import type { EntryLookup } from '../bullmq-series.ts';
import { redisScript, runScript } from './redis-script.ts';
import type { EntryState, TakenEntry } from '../server.ts';

/** Entries in one round trip. Each is a command of its own, so the server answers others in between. */
const READ_AT_ONCE = 1_000;
const PROMOTED_AT_ONCE = 200;
/** Fewer: one that was added last is searched for among all that wait. */
const REMOVED_AT_ONCE = 100;

/**
 * BullMQ's own `getState` and `remove` search the list of all that wait, for each id. What is in no other state waits, and
 * what is removed most often was added first: it stands where the search begins. Its `promote` takes a command for each id.
 * What only reads runs no script, which a user who may only read must not.
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
      const rows = await read(ids, (asking, id) => asking.hmget(prefix + id, ...FIELDS));
      return rows.map((row, index) => toFields(ids[index] ?? '', row as Row)); // as FIELDS has it
    },
    states: async (ids) => {
      // In the order in which an entry moves on: one that does so in between is met where it is by then.
      const answers = await read(ids, (asking, id) =>
        asking
          .lpos(`${prefix}active`, id)
          .zscore(`${prefix}delayed`, id)
          .hmget(prefix + id, 'timestamp', 'finishedOn', 'failedReason'),
      );
      return ids.map((_, index) => stateOf(answers.slice(3 * index, 3 * index + 3)));
    },
    take: async (tokens, open) => {
      const ready = await readyIn(redis, prefix);
      const backend = await open();
      const answers = await Promise.all(
        tokens.slice(0, ready).map(async (token) => takenEntry(await backend.moveToActive(token), token)),
      );
      const taken = answers.filter((each) => each !== undefined);
      return {
        taken,
        nextDueAt: taken.length === tokens.length ? undefined : await nextDueIn(redis, prefix),
      };
    },
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
      const removed = await inSteps(ids, REMOVED_AT_ONCE, (args) => runScript(redis, REMOVE, { keys, args }));
      return removed.map((each) => each === 1);
    },
    addedAt: async (ids) => {
      const times = await read(ids, (asking, id) => asking.hget(prefix + id, 'timestamp'));
      return times.map((time) => (time === null ? undefined : Number(time)));
    },
    promote: async (ids) => {
      await inSteps(ids, PROMOTED_AT_ONCE, (args) => runScript(redis, PROMOTE, { keys, args }));
    },
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

function takenEntry(answer: unknown[], token: string): TakenEntry | undefined {
  const [fields, id] = answer as [JobJson | null | undefined, string]; // a tuple of BullMQ
  return fields ? { entry: toEntry({ ...fields, id }), token } : undefined;
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

function stateOf([place, dueAt, fields]: readonly unknown[]): EntryState | undefined {
  const [timestamp, finishedOn, reason] = fields as readonly (string | null)[]; // as asked for
  if (timestamp === null) return undefined;
  if (finishedOn !== null) return reason ? 'failed' : 'completed';
  if (dueAt !== null) return 'delayed';
  return place === null ? 'waiting' : 'active';
}

async function inSteps(
  ids: readonly string[],
  size: number,
  act: (some: readonly string[]) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (let at = 0; at < ids.length; at += size) {
    const some = await act(ids.slice(at, at + size));
    results.push(...(some as readonly unknown[])); // a list, by the scripts below
  }
  return results;
}

/** The answers of commands that are sent together. Throws the first error. */
async function pipelined(
  redis: Redis,
  ask: (asking: ChainableCommander) => void,
): Promise<readonly unknown[]> {
  const asking = redis.pipeline();
  ask(asking);
  const answers = (await asking.exec()) ?? [];
  for (const [error] of answers) if (error !== null) throw error;
  return answers.map(([, answer]) => answer);
}

const FIELDS = [
  'data',
  'timestamp',
  'finishedOn',
  'failedReason',
  'returnvalue',
  'stacktrace',
  'progress',
  'ats',
  'processedOn',
] as const;

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

function toFields(id: string, row: Row): JobFields | undefined {
  const [data, timestamp, finishedOn, failedReason, returnvalue, stacktrace, progress, takes, takenAt] = row;
  if (data === null) return undefined;
  return {
    id,
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

/** As BullMQ does it for entries without a priority, with the marker and the event that its own tools look for. */
const PROMOTE = redisScript(`
local series = KEYS[1]
local settings = redis.call('HMGET', series .. 'meta', 'paused', 'concurrency', 'opts.maxLenEvents')
local isOpen = not settings[1] and not settings[2]
local kept = settings[3] or '10000'
local promoted = {}
for place, id in ipairs(ARGV) do
  promoted[place] = redis.call('ZREM', series .. 'delayed', id)
  if promoted[place] == 1 then
    redis.call('LPUSH', series .. 'wait', id)
    redis.call('HSET', series .. id, 'delay', 0)
    redis.call('XADD', series .. 'events', 'MAXLEN', '~', kept, '*', 'event', 'waiting', 'jobId', id, 'prev', 'delayed')
    if isOpen then redis.call('ZADD', series .. 'marker', 0, '0') end
  end
end
return promoted
`);

/**
 * A server whose memory is full runs it: nothing is written before something is removed. The other keys are those that
 * BullMQ's tools may have made for an entry.
 */
const REMOVE = redisScript(`
local series = KEYS[1]
local function take(id)
  for _, each in ipairs({'completed', 'failed', 'delayed', 'prioritized', 'waiting-children'}) do
    if redis.call('ZREM', series .. each, id) == 1 then return end
  end
  for _, each in ipairs({'wait', 'paused', 'active'}) do
    if redis.call('LREM', series .. each, -1, id) == 1 then return end
  end
end
local function remove(id)
  local key = series .. id
  if redis.call('EXISTS', key) == 0 or redis.call('EXISTS', key .. ':lock') == 1 then return 0 end
  take(id)
  redis.call('DEL', key, key .. ':logs', key .. ':dependencies', key .. ':processed', key .. ':failed',
    key .. ':unsuccessful')
  return 1
end
local removed = {}
for place, id in ipairs(ARGV) do removed[place] = remove(id) end
return removed
`);
