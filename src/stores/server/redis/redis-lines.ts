import type { Redis } from 'ioredis';
import { BULLMQ_PREFIX } from '../bullmq-job.ts';
import { lineName, type InLine, type Lines } from '../server.ts';
import { redisScript, runScript } from './redis-script.ts';

/** A sorted set for each key that has deliveries, by the order of joining. The time of a command does not grow with the line. */
export function redisLines(redis: Redis): Lines {
  return {
    join: async (ids, { areAdded = false } = {}) => {
      const { keys, args } = columnsOf(ids);
      const behind = await runScript(redis, JOIN, { keys, args: [...args, areAdded ? 'added' : ''] });
      return behind as readonly string[]; // by the script below
    },
    leave: async (ids) => {
      const firsts = (await runScript(redis, LEAVE, columnsOf(ids))) as readonly string[]; // by the script below
      return [...new Set(firsts)].filter((id) => id !== '');
    },
    firsts: async (keys) => {
      const found = await runScript(redis, FIRSTS, { keys: keys.map(keyOf), args: [] });
      return (found as readonly string[]).map((id) => (id === '' ? undefined : id)); // by the script below
    },
  };
}

/** Two parallel columns: the key of each line of each id with that of its entry, and the id. */
function columnsOf(ids: readonly InLine[]): {
  readonly keys: readonly string[];
  readonly args: readonly string[];
} {
  const rows = ids.flatMap(({ id, keys, entry }) => [...new Set(keys)].map((key) => ({ key, id, entry })));
  return {
    keys: rows.flatMap(({ key, entry }) => [keyOf(key), `${BULLMQ_PREFIX}:${entry.series}:${entry.id}`]),
    args: rows.map(({ id }) => id),
  };
}

function keyOf(key: string): string {
  return `hooks:line:${lineName(key)}`;
}

/**
 * The key of a line is the beginning of its name, of whose 114 bits two are not met twice: with one character more it takes 8 bytes more. Version 0.1 kept
 * it under the whole name as a list, which takes the longer to leave the longer it is.
 */
const SORTED = `
local function sorted(name)
  local line = string.sub(name, 1, ${'hooks:line:'.length + 19})
  if redis.call('TYPE', name).ok ~= 'list' then return line end
  local ids = redis.call('LRANGE', name, 0, -1)
  redis.call('DEL', name)
  for place, id in ipairs(ids) do redis.call('ZADD', line, 'NX', place, id) end
  return line
end
`;

const GONE = `
local function isGone(entry)
  return redis.call('HEXISTS', entry, 'data') == 0 or redis.call('HEXISTS', entry, 'finishedOn') == 1
end
`;

const JOIN = redisScript(`${SORTED}${GONE}
local behind, isAdded = {}, ARGV[#ARGV] == 'added'
for place = 1, #ARGV - 1 do
  local line, id = sorted(KEYS[2 * place - 1]), ARGV[place]
  if not redis.call('ZSCORE', line, id) and not (isAdded and isGone(KEYS[2 * place])) then
    local last = redis.call('ZREVRANGE', line, 0, 0, 'WITHSCORES')
    redis.call('ZADD', line, (tonumber(last[2]) or 0) + 1, id)
  end
  if redis.call('ZRANGE', line, 0, 0)[1] ~= id then table.insert(behind, id) end
end
return behind
`);

const LEAVE = redisScript(`${SORTED}${GONE}
local left = {}
for place, id in ipairs(ARGV) do
  if isGone(KEYS[2 * place]) then
    table.insert(left, sorted(KEYS[2 * place - 1]))
    redis.call('ZREM', left[#left], id)
  end
end
for place, line in ipairs(left) do left[place] = redis.call('ZRANGE', line, 0, 0)[1] or '' end
return left
`);

const FIRSTS = redisScript(`${SORTED}
local firsts = {}
for place, key in ipairs(KEYS) do firsts[place] = redis.call('ZRANGE', sorted(key), 0, 0)[1] or '' end
return firsts
`);
