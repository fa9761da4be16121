import { ALSO_WHEN_FULL, redisScript } from './redis-script.ts';

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
  'name',
] as const;

/** The scores of delayed entries are times with twelve more bits, of the order of adding. */
export const DELAYED_STEP = 0x1000;

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

/**
 * Takes the entries that waited longest, as BullMQ's `moveToActive` does, which a full server does not run, and which takes one at a time.
 * What is due of the delayed ones waits first. The arguments are the time, the length of a lock and the tokens; the result is the score of
 * the next delayed entry, then the id and the fields of each.
 */
export const TAKE_ENTRIES = redisScript(`
local series, now = KEYS[1], tonumber(ARGV[1])
local function nextDelayed() return redis.call('ZRANGE', series .. 'delayed', 0, 0, 'WITHSCORES')[2] or false end
local due = (now + 1) * ${DELAYED_STEP} - 1
local first = nextDelayed()
if redis.call('LLEN', series .. 'wait') == 0 and (not first or tonumber(first) > due) then return {first} end
if redis.call('HEXISTS', series .. 'meta', 'paused') == 1 then return {first} end
${ALSO_WHEN_FULL}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', series .. 'delayed', '-inf', due, 'LIMIT', 0, 1000)) do
  redis.call('ZREM', series .. 'delayed', id)
  redis.call('LPUSH', series .. 'wait', id)
  redis.call('HSET', series .. id, 'delay', 0)
end
local rows = {nextDelayed()}
for place = 3, #ARGV do
  local id = redis.call('RPOPLPUSH', series .. 'wait', series .. 'active')
  if not id then break end
  local key = series .. id
  redis.call('SET', key .. ':lock', ARGV[place], 'PX', ARGV[2])
  redis.call('HSET', key, 'processedOn', ARGV[1])
  redis.call('HINCRBY', key, 'ats', 1)
  local row = redis.call('HMGET', key, '${ENTRY_FIELDS.join("', '")}')
  table.insert(row, 1, id)
  table.insert(rows, row)
end
return rows
`);

/** Extends locks, and returns the ids whose token no longer holds one. The arguments are the length, and the id and the token of each. */
export const EXTEND_LOCKS = redisScript(`
local lost = {}
for place = 2, #ARGV, 2 do
  local lock = KEYS[1] .. ARGV[place] .. ':lock'
  if redis.call('GET', lock) == ARGV[place + 1] then redis.call('PEXPIRE', lock, ARGV[1])
  else table.insert(lost, ARGV[place]) end
end
return lost
`);

/** Lets entries wait again, before the others, whose locks have run out. */
export const RECOVER_ENTRIES = redisScript(`
local series = KEYS[1]
for _, id in ipairs(redis.call('LRANGE', series .. 'active', 0, -1)) do
  if redis.call('EXISTS', series .. id .. ':lock') == 0 and redis.call('LREM', series .. 'active', 1, id) == 1
    and redis.call('EXISTS', series .. id) == 1 then redis.call('RPUSH', series .. 'wait', id) end
end
`);

/** Where BullMQ keeps what a process says of an entry while it is active. */
export const WRITE_NOTE = redisScript(`
if redis.call('EXISTS', KEYS[1]) == 1 then
  ${ALSO_WHEN_FULL}
  redis.call('HSET', KEYS[1], 'progress', ARGV[1])
end
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

/** How far from its old end a list is searched first. */
const NEAR = 2_000;

/**
 * A server whose memory is full runs it: nothing is written before something is removed. What is removed most often waited longest, or was
 * made to wait just now, since the one before it in its order key was removed: so lists are searched from both ends. The other keys are those that
 * BullMQ's tools may have made for an entry.
 */
export const REMOVE_ENTRIES = redisScript(`
local series = KEYS[1]
local function take(id)
  for _, each in ipairs({'completed', 'failed', 'delayed', 'prioritized', 'waiting-children'}) do
    if redis.call('ZREM', series .. each, id) == 1 then return end
  end
  for _, each in ipairs({'wait', 'paused', 'active'}) do
    local isOld = redis.call('LPOS', series .. each, id, 'RANK', -1, 'MAXLEN', ${NEAR})
    if redis.call('LREM', series .. each, isOld and -1 or 1, id) == 1 then return end
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
