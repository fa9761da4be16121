import { HELD_UNTIL } from '../server.ts';
import {
  DELAYED_STEP,
  EVENT,
  FIELD,
  IDS_KEY,
  JOB_KEYS,
  KEY,
  LOCK_END,
  PAUSED,
  READ_FIELD,
  STRANGE_IDS_KEYS,
} from '../bullmq-layout.ts';
import { ALSO_WHEN_FULL, BASE, LINES, redisScript } from './redis-script.ts';

/** Puts entries into their lines in the transaction in which BullMQ adds them, and holds those that are not first. */
export const JOIN_LINES = redisScript(`${LINES}
local mark = argument()
while at < #ARGV do
  local id, joined = argument(), lines()
  local options = redis.call('HGET', series .. id, '${FIELD.options}')
  local isNew = options and string.find(options, mark, 1, true) and not isGone(id)
  if isNew and not isFirst(id, joined) and redis.call('LREM', series .. '${IDS_KEY.waiting}', 1, id) == 1 then delay(id, ${HELD_UNTIL}) end
end
`);

/** Delays taken entries that are not first in their lines, stores their notes, and returns their ids. */
export const HOLD_ENTRIES = redisScript(`${LINES}
${ALSO_WHEN_FULL}
local held = {}
while at < #ARGV do
  local id, token, note, joined = argument(), argument(), argument(), lines()
  if not isFirst(id, joined) and unlock(id, token) then
    redis.call('HSET', series .. id, '${FIELD.progress}', note)
    delay(id, ${HELD_UNTIL})
    table.insert(held, id)
  end
end
return held
`);

/** Completes or fails entries, like BullMQ. Returns for each 1, 0 if its token holds no lock, or the error it caused. */
export const SETTLE_ENTRIES = redisScript(`${LINES}
local function settle(id, token, state, now, note, reason, left)
  if not unlock(id, token) then return 0 end
  redis.call('ZADD', series .. state, now, id)
  redis.call('HINCRBY', series .. id, '${FIELD.settles}', 1)
  if state == '${IDS_KEY.failed}' then
    redis.call('HSET', series .. id, '${FIELD.settledAt}', now, '${FIELD.failedReason}', reason, '${FIELD.stacktrace}', '[' .. note .. ']')
    tell(state, id, '${FIELD.failedReason}', reason, '${EVENT.from}', '${IDS_KEY.active}')
  else
    redis.call('HSET', series .. id, '${FIELD.settledAt}', now, '${FIELD.returnvalue}', note)
    tell(state, id, '${FIELD.returnvalue}', note, '${EVENT.from}', '${IDS_KEY.active}')
  end
  leave(id, left)
  return 1
end
local results = {}
while at < #ARGV do
  local id, token, state, now, note, reason = argument(), argument(), argument(), argument(), argument(), argument()
  local _, result = pcall(settle, id, token, state, now, note, reason, lines())
  table.insert(results, result)
end
return results
`);

/** Delays an active entry until a time, and stores its note. Returns 0 if its token holds no lock. */
export const DELAY_ENTRY = redisScript(`${BASE}
local id, token, due, note = argument(), argument(), tonumber(argument()), argument()
if not unlock(id, token) then return 0 end
redis.call('HSET', series .. id, '${FIELD.progress}', note)
delay(id, due)
return 1
`);

/**
 * Takes the entries that waited longest, after due delayed ones joined them. BullMQ's own script fails on a full server and
 * takes one entry at a time. Returns the score of the next delayed entry, then the id and the fields of each taken one.
 */
export const TAKE_ENTRIES = redisScript(`${BASE}
local now, lockMs = argument(), argument()
local function nextDelayed() return redis.call('ZRANGE', series .. '${IDS_KEY.delayed}', 0, 0, 'WITHSCORES')[2] or false end
local due = (now + 1) * ${DELAYED_STEP} - 1
local first = nextDelayed()
if redis.call('LLEN', series .. '${IDS_KEY.waiting}') == 0 and (not first or tonumber(first) > due) then return {first} end
if redis.call('HEXISTS', series .. '${KEY.meta}', '${PAUSED}') == 1 then return {first} end
${ALSO_WHEN_FULL}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', series .. '${IDS_KEY.delayed}', '-inf', due, 'LIMIT', 0, 1000)) do
  redis.call('ZREM', series .. '${IDS_KEY.delayed}', id)
  redis.call('LPUSH', series .. '${IDS_KEY.waiting}', id)
  redis.call('HSET', series .. id, '${FIELD.delay}', 0)
end
local rows = {nextDelayed()}
while at < #ARGV do
  local id = redis.call('RPOPLPUSH', series .. '${IDS_KEY.waiting}', series .. '${IDS_KEY.active}')
  if not id then break end
  local key = series .. id
  redis.call('HSET', key, '${FIELD.takenAt}', now)
  redis.call('HINCRBY', key, '${FIELD.takes}', 1)
  local fields = redis.call('HMGET', key, ${luaTexts(Object.values(READ_FIELD))})
  if fields[1] then
    redis.call('SET', key .. '${LOCK_END}', argument(), 'PX', lockMs)
    table.insert(rows, {id, fields})
  else
    -- A person has deleted the entry.
    redis.call('DEL', key)
    redis.call('LREM', series .. '${IDS_KEY.active}', 1, id)
  end
end
return rows
`);

/** Extends locks and stores notes that are not empty. Returns the ids whose token no longer holds the lock. */
export const EXTEND_LOCKS = redisScript(`${BASE}
local lockMs, lost = argument(), {}
while at < #ARGV do
  local id, token, note = argument(), argument(), argument()
  if redis.call('GET', series .. id .. '${LOCK_END}') == token then
    redis.call('PEXPIRE', series .. id .. '${LOCK_END}', lockMs)
    if note ~= '' then redis.call('HSET', series .. id, '${FIELD.progress}', note) end
  else table.insert(lost, id) end
end
return lost
`);

/** Moves entries with expired locks to the front of the waiting entries. */
export const RECOVER_ENTRIES = redisScript(`${BASE}
for _, id in ipairs(redis.call('LRANGE', series .. '${IDS_KEY.active}', 0, -1)) do
  if redis.call('EXISTS', series .. id .. '${LOCK_END}') == 0 and redis.call('LREM', series .. '${IDS_KEY.active}', 1, id) == 1
    and redis.call('EXISTS', series .. id) == 1 then redis.call('RPUSH', series .. '${IDS_KEY.waiting}', id) end
end
`);

/** Makes entries of a state wait again, or holds them if not first in their lines. Returns 1 for each that was in it. */
export const WAKE_ENTRIES = redisScript(`${LINES}
local state, woken = argument(), {}
while at < #ARGV do
  local id, note, joined = argument(), argument(), lines()
  local isWoken = redis.call('ZREM', series .. state, id)
  table.insert(woken, isWoken)
  if isWoken == 1 then
    redis.call('HDEL', series .. id, '${FIELD.settledAt}', '${FIELD.takenAt}', '${FIELD.failedReason}')
    redis.call('HSET', series .. id, '${FIELD.progress}', note)
    if isFirst(id, joined) then wait(id, state) else delay(id, ${HELD_UNTIL}) end
  end
end
return woken
`);

/** Maximum entries to search at the old end of a list, before the list is searched from its new end. */
const NEAR = 2_000;

const { waiting, active, delayed, completed, failed } = IDS_KEY;
const SETS = luaTexts([completed, failed, delayed, ...STRANGE_IDS_KEYS.sets]);
const LISTS = luaTexts([waiting, ...STRANGE_IDS_KEYS.lists, active]);

const REMOVE = `
local function take(id)
  for _, each in ipairs({${SETS}}) do
    if redis.call('ZREM', series .. each, id) == 1 then return end
  end
  for _, each in ipairs({${LISTS}}) do
    local isOld = redis.call('LPOS', series .. each, id, 'RANK', -1, 'MAXLEN', ${NEAR})
    if redis.call('LREM', series .. each, isOld and -1 or 1, id) == 1 then return end
  end
end
local function remove(id)
  local key = series .. id
  take(id)
  return redis.call('DEL', key, ${JOB_KEYS.map((end) => `key .. '${end}'`).join(', ')})
end
`;

/**
 * Removes unlocked entries and the keys that BullMQ's tools may have made for them. Most entries to remove have waited
 * longest, or have just begun to wait, because one ahead in a line was removed. So lists are searched from both ends, while
 * BullMQ searches all waiting entries.
 */
export const REMOVE_ENTRIES = redisScript(`${LINES}${REMOVE}
local removed = {}
while at < #ARGV do
  local id, left = argument(), lines()
  local isLocked = redis.call('EXISTS', series .. id .. '${LOCK_END}') == 1
  table.insert(removed, isLocked and 0 or redis.call('EXISTS', series .. id))
  if removed[#removed] == 1 then remove(id) end
  if not isLocked then leave(id, left) end
end
return removed
`);

/** Removes some entries of a state that were settled before a time, and returns how many. */
export const FORGET_ENTRIES = redisScript(`${BASE}${REMOVE}
local old = redis.call('ZRANGEBYSCORE', series .. argument(), '-inf', argument(), 'LIMIT', 0, argument())
for _, id in ipairs(old) do remove(id) end
return #old
`);

function luaTexts(texts: readonly string[]): string {
  return texts.map((text) => `'${text}'`).join(', ');
}
