import type { Redis } from 'ioredis';
import type { Intent, Intents } from '../server.ts';
import { ALSO_WHEN_FULL, redisScript, runScript } from './redis-script.ts';

/** A set of ids by when each is due, and a table of their texts. */
const KEYS = { due: 'hooks:intents', texts: 'hooks:intents:texts' };

export function redisIntents(redis: Redis): Intents {
  const keys = [KEYS.due, KEYS.texts];
  return {
    put: async ({ id, text, dueAt }, { whenFull = false } = {}) => {
      await runScript(redis, whenFull ? PUT_WHEN_FULL : PUT, { keys, args: [id, text, String(dueAt)] });
    },
    remove: async (id) => {
      await runScript(redis, REMOVE, { keys, args: [id] });
    },
    take: async ({ now, againAt, limit }) => {
      const args = [String(now), String(againAt), String(limit)];
      const found = (await runScript(redis, TAKE, { keys, args })) as readonly [string, string][]; // by the script below
      return found.map(([id, text]): Intent => ({ id, text, dueAt: againAt }));
    },
  };
}

const PUT_LUA = `
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
`;
const PUT = redisScript(PUT_LUA);
const PUT_WHEN_FULL = redisScript(ALSO_WHEN_FULL + PUT_LUA);

const REMOVE = redisScript(`
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
`);

/** In one step: what two processes took would be repaired by both, one of them too late. */
const TAKE = redisScript(`
${ALSO_WHEN_FULL}
local taken = {}
for place, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', KEYS[1], ARGV[2], id)
  taken[place] = {id, redis.call('HGET', KEYS[2], id)}
end
return taken
`);
