import type { Redis } from 'ioredis';
import { lineName, type InLine, type Lines } from '../server.ts';
import { redisScript, runScript } from './redis-script.ts';

/** A sorted set for each key that has deliveries, by the order of joining. The time of a command does not grow with the line. */
export function redisLines(redis: Redis): Lines {
  return {
    join: async (ids) => {
      await runScript(redis, JOIN, columnsOf(ids));
    },
    leave: async (ids) => {
      const firsts = (await runScript(redis, LEAVE, columnsOf(ids))) as readonly string[]; // by the script below
      return [...new Set(firsts)].filter((id) => id !== '');
    },
    firsts: async (keys) => {
      const found = await runScript(redis, FIRSTS, { keys: keys.map(keyOf), args: [] });
      return (found as readonly string[]).map((id) => (id === '' ? undefined : id)); // by the script below
    },
    lost: async (ids) => {
      const { keys, args } = columnsOf(ids);
      const found = (await runScript(redis, ARE_IN, { keys, args })) as readonly number[]; // by the script below
      return [...new Set(args.filter((_, place) => found[place] === 0))];
    },
  };
}

/** Two parallel columns: the key of each line of each id, and the id. */
function columnsOf(ids: readonly InLine[]): {
  readonly keys: readonly string[];
  readonly args: readonly string[];
} {
  const rows = ids.flatMap(({ id, keys }) => [...new Set(keys)].map((key) => ({ key: keyOf(key), id })));
  return { keys: rows.map(({ key }) => key), args: rows.map(({ id }) => id) };
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

const JOIN = redisScript(`${SORTED}
for place, key in ipairs(KEYS) do
  local line = sorted(key)
  local last = redis.call('ZREVRANGE', line, 0, 0, 'WITHSCORES')
  redis.call('ZADD', line, 'NX', (tonumber(last[2]) or 0) + 1, ARGV[place])
end
`);

const LEAVE = redisScript(`${SORTED}
for place, key in ipairs(KEYS) do redis.call('ZREM', sorted(key), ARGV[place]) end
local firsts = {}
for place, key in ipairs(KEYS) do firsts[place] = redis.call('ZRANGE', sorted(key), 0, 0)[1] or '' end
return firsts
`);

const FIRSTS = redisScript(`${SORTED}
local firsts = {}
for place, key in ipairs(KEYS) do firsts[place] = redis.call('ZRANGE', sorted(key), 0, 0)[1] or '' end
return firsts
`);

const ARE_IN = redisScript(`${SORTED}
local found = {}
for place, key in ipairs(KEYS) do
  found[place] = redis.call('ZSCORE', sorted(key), ARGV[place]) and 1 or 0
end
return found
`);
