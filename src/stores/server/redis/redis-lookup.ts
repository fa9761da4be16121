import type { Redis } from 'ioredis';
import { BULLMQ_PREFIX, type JobFields } from '../bullmq-job.ts';
import type { EntryLookup } from '../bullmq-series.ts';
import { redisScript, runScript } from './redis-script.ts';
import type { EntryState } from '../server.ts';

/** Bounded, since the server answers no other client while a script runs. */
const LOOKED_UP_AT_ONCE = 500;
/** Fewer: with what they hold. */
const READ_AT_ONCE = 100;
const PROMOTED_AT_ONCE = 200;
/** Fewer: one that was added last is searched for among all that wait. */
const REMOVED_AT_ONCE = 100;

/**
 * BullMQ's own `getState` and `remove` search the list of all that wait, for each id. What is in no other state waits, and
 * what is removed most often was added first: it stands where the search begins. Its `promote` takes a command for each id.
 */
export function redisLookup(redis: Redis, series: string): EntryLookup {
  const keys = [`${BULLMQ_PREFIX}:${series}:`];
  return {
    fields: async (ids) => {
      const rows = await inSteps(ids, READ_AT_ONCE, (args) => runScript(redis, FIELDS, { keys, args }));
      return rows.map((row, index) => toFields(ids[index] ?? '', row as Row)); // by the script below
    },
    states: async (ids) => {
      const states = await inSteps(ids, LOOKED_UP_AT_ONCE, (args) =>
        runScript(redis, STATES, { keys, args }),
      );
      return states.map((state) => (state === '' ? undefined : (state as EntryState))); // by the script below
    },
    remove: async (ids) => {
      const removed = await inSteps(ids, REMOVED_AT_ONCE, (args) => runScript(redis, REMOVE, { keys, args }));
      return removed.map((count) => count === 1);
    },
    addedAt: async (ids) => {
      const times = await inSteps(ids, LOOKED_UP_AT_ONCE, (args) =>
        runScript(redis, ADDED_AT, { keys, args }),
      );
      return times.map((time) => (time === '' ? undefined : Number(time)));
    },
    promote: async (ids) => {
      await inSteps(ids, PROMOTED_AT_ONCE, (args) => runScript(redis, PROMOTE, { keys, args }));
    },
  };
}

async function inSteps(
  ids: readonly string[],
  size: number,
  act: (some: readonly string[]) => Promise<unknown>,
): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for (let at = 0; at < ids.length; at += size)
    results.push(...((await act(ids.slice(at, at + size))) as readonly unknown[])); // a list, by the scripts below
  return results;
}

type Row = readonly [
  data: string | null,
  timestamp: string,
  finishedOn: string | null,
  failedReason: string | null,
  returnvalue: string | null,
  stacktrace: string | null,
  progress: string | null,
];

function toFields(id: string, row: Row): JobFields | undefined {
  const [data, timestamp, finishedOn, failedReason, returnvalue, stacktrace, progress] = row;
  if (data === null) return undefined;
  return {
    id,
    data,
    timestamp: Number(timestamp),
    ...(finishedOn !== null && { finishedOn: Number(finishedOn) }),
    failedReason: failedReason ?? '',
    returnvalue: returnvalue ?? '',
    stacktrace: stacktrace ?? '',
    progress: JSON.parse(progress ?? '0') as JobFields['progress'], // written by writeNote, or BullMQ's 0
  };
}

const FIELDS = redisScript(`
local rows = {}
for place, id in ipairs(ARGV) do
  rows[place] = redis.call('HMGET', KEYS[1] .. id,
    'data', 'timestamp', 'finishedOn', 'failedReason', 'returnvalue', 'stacktrace', 'progress')
end
return rows
`);

const ADDED_AT = redisScript(`
local times = {}
for place, id in ipairs(ARGV) do times[place] = redis.call('HGET', KEYS[1] .. id, 'timestamp') or '' end
return times
`);

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

/** Only what was taken once can be among the active ones, which are few. */
const STATES = redisScript(`
local series = KEYS[1]
local function state(id)
  local fields = redis.call('HMGET', series .. id, 'timestamp', 'processedOn')
  if not fields[1] then return '' end
  for _, each in ipairs({'completed', 'failed', 'delayed'}) do
    if redis.call('ZSCORE', series .. each, id) then return each end
  end
  if fields[2] and redis.call('LPOS', series .. 'active', id) then return 'active' end
  return 'waiting'
end
local states = {}
for place, id in ipairs(ARGV) do states[place] = state(id) end
return states
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
