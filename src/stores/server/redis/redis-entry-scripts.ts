import { redisScript } from './redis-script.ts';

/** The fields of BullMQ's jobs that are read. */
export const ENTRY_FIELDS = [
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

/** Each entry's fields, behind 1 if it is locked and 0 if not. Of one that is not there, none. */
export const READ_ENTRIES = redisScript(`
local rows = {}
for place, id in ipairs(ARGV) do
  local key = KEYS[1] .. id
  local row = redis.call('HMGET', key, '${ENTRY_FIELDS.join("', '")}')
  table.insert(row, 1, redis.call('EXISTS', key .. ':lock'))
  rows[place] = row
end
return rows
`);

export const READ_TIMES = redisScript(`
local times = {}
for place, id in ipairs(ARGV) do times[place] = redis.call('HGET', KEYS[1] .. id, 'timestamp') end
return times
`);

/**
 * Makes entries of a state wait as BullMQ does with those without a priority, with the marker and the event that its own tools look
 * for. The arguments are the state, and for each entry its id and its note or nothing.
 */
export const WAKE_ENTRIES = redisScript(`
local series, state = KEYS[1], ARGV[1]
local settings = redis.call('HMGET', series .. 'meta', 'paused', 'concurrency', 'opts.maxLenEvents')
local isOpen = not settings[1] and not settings[2]
local kept = settings[3] or '10000'
local woken = {}
for place = 2, #ARGV, 2 do
  local id, note = ARGV[place], ARGV[place + 1]
  local isWoken = redis.call('ZREM', series .. state, id)
  table.insert(woken, isWoken)
  if isWoken == 1 then
    redis.call('LPUSH', series .. 'wait', id)
    redis.call('HSET', series .. id, 'delay', 0)
    redis.call('HDEL', series .. id, 'finishedOn', 'processedOn', 'failedReason')
    if note ~= '' then redis.call('HSET', series .. id, 'progress', note) end
    redis.call('XADD', series .. 'events', 'MAXLEN', '~', kept, '*', 'event', 'waiting', 'jobId', id, 'prev', state)
  end
end
if isOpen then redis.call('ZADD', series .. 'marker', 0, '0') end
return woken
`);

/**
 * A server whose memory is full runs it: nothing is written before something is removed. The other keys are those that
 * BullMQ's tools may have made for an entry.
 */
export const REMOVE_ENTRIES = redisScript(`
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
