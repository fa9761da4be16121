import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { DELAYED_STEP, EVENT, EVENTS_LIMIT, FIELD, IDS_KEY, KEY, LOCK_END } from '../bullmq-layout.ts';
import { ENTRY_PREFIX, HELD_UNTIL } from '../server.ts';

/** A Lua script that the server runs atomically. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

export function redisScript(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/** Runs a script. Sends its text only if the server does not know the script, as after a restart. */
export async function runScript(
  redis: Redis,
  { lua, sha }: RedisScript,
  key: string,
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, 1, key, ...args);
  } catch (error) {
    if (!String(error).includes('NOSCRIPT')) throw error;
    return redis.eval(lua, 1, key, ...args);
  }
}

/** Key prefix of a line; the line's name follows. */
export const LINE = 'hooks:line:';

/** First write of scripts that must run on a full server: Redis runs them to their end if that write takes no memory. */
export const ALSO_WHEN_FULL = "redis.call('DEL', series .. ':none')";

/** Lua that all scripts share. `KEYS[1]` is the key prefix of the series. `argument()` reads `ARGV` in order. */
export const BASE = `
local series, at = KEYS[1], 0
local function argument() at = at + 1; return ARGV[at] end
local function tell(event, id, ...)
  redis.call('XADD', series .. '${KEY.events}', 'MAXLEN', '~', ${EVENTS_LIMIT.value}, '*', '${EVENT.name}', event, '${EVENT.id}', id, ...)
end
local function wait(id, from)
  redis.call('LPUSH', series .. '${IDS_KEY.waiting}', id)
  redis.call('HSET', series .. id, '${FIELD.delay}', 0)
  redis.call('ZADD', series .. '${KEY.marker}', 0, '0')
  tell('waiting', id, '${EVENT.from}', from)
end
local function delay(id, due)
  local least, step, most = due * ${DELAYED_STEP}, 1, (due + 1) * ${DELAYED_STEP} - 1
  -- Scores this large have no spare bits.
  if due >= ${HELD_UNTIL} then step, most = ${DELAYED_STEP}, math.huge end
  local last = redis.call('ZREVRANGEBYSCORE', series .. '${IDS_KEY.delayed}', most, least, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  redis.call('ZADD', series .. '${IDS_KEY.delayed}', last and math.min(last + step, most) or least, id)
  tell('delayed', id, '${FIELD.delay}', due)
end
local function unlock(id, token)
  if redis.call('GET', series .. id .. '${LOCK_END}') ~= token then return false end
  redis.call('DEL', series .. id .. '${LOCK_END}')
  return redis.call('LREM', series .. '${IDS_KEY.active}', -1, id) == 1
end
`;

/**
 * Lua for lines: sets sorted by joining, so that no command takes longer in a long line. An id whose entry a person deleted
 * is removed when it would be first. A key has the first 19 characters of the line's name, a hash: 114 bits are enough.
 */
export const LINES = `${BASE}
local function lines()
  local found = {}
  for place = 1, tonumber(argument()) do found[place] = '${LINE}' .. string.sub(argument(), 1, 19) end
  return found
end
local function isGone(id)
  local entry = redis.call('HMGET', series .. id, '${FIELD.data}', '${FIELD.settledAt}')
  return not entry[1] or entry[2]
end
local function call(id)
  local score = redis.call('ZSCORE', series .. '${IDS_KEY.delayed}', id)
  if not score or tonumber(score) < ${HELD_UNTIL * DELAYED_STEP} then return end
  redis.call('ZREM', series .. '${IDS_KEY.delayed}', id)
  wait(id, 'delayed')
end
local function first(line)
  while true do
    local name = redis.call('ZRANGE', line, 0, 0)[1]
    local id = name and '${ENTRY_PREFIX}' .. name
    if not id or not isGone(id) then return id end
    redis.call('ZREM', line, name)
  end
end
local function nameOf(id) return string.sub(id, ${ENTRY_PREFIX.length + 1}) end
local function isFirst(id, joined)
  local isBehind = false
  for _, line in ipairs(joined) do
    if not redis.call('ZSCORE', line, nameOf(id)) then
      local last = redis.call('ZREVRANGE', line, 0, 0, 'WITHSCORES')[2]
      redis.call('ZADD', line, (tonumber(last) or 0) + 1, nameOf(id))
    end
    local other = first(line)
    if other ~= id then
      isBehind = true
      call(other)
    end
  end
  return not isBehind
end
local function leave(id, left)
  for _, line in ipairs(left) do
    redis.call('ZREM', line, nameOf(id))
    local other = first(line)
    if other then call(other) end
  end
end
`;
