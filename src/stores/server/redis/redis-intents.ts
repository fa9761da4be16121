import type { Redis } from 'ioredis';
import type { Intent, Intents } from '../server.ts';
import { redisScript, runScript } from './redis-script.ts';

/** A set of ids by when each is due, and a table of their texts. */
const KEYS = { due: 'hooks:intents', texts: 'hooks:intents:texts' };

export function redisIntents(redis: Redis): Intents {
  const together = async (commands: [name: string, ...args: string[]][]): Promise<void> => {
    const results = (await redis.multi(commands).exec()) ?? [];
    for (const [error] of results) if (error !== null) throw error;
  };
  return {
    put: ({ id, text, dueAt }) =>
      together([
        ['hset', KEYS.texts, id, text],
        ['zadd', KEYS.due, String(dueAt), id],
      ]),
    remove: (id) =>
      together([
        ['zrem', KEYS.due, id],
        ['hdel', KEYS.texts, id],
      ]),
    take: async ({ now, againAt, limit }) => {
      const keys = [KEYS.due, KEYS.texts];
      const args = [String(now), String(againAt), String(limit)];
      const found = (await runScript(redis, TAKE, { keys, args })) as readonly [string, string][]; // by the script below
      return found.map(([id, text]): Intent => ({ id, text, dueAt: againAt }));
    },
  };
}

/** In one step: what two processes took would be repaired by both, one of them too late. */
const TAKE = redisScript(`
local taken = {}
for place, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])) do
  redis.call('ZADD', KEYS[1], ARGV[2], id)
  taken[place] = {id, redis.call('HGET', KEYS[2], id)}
end
return taken
`);
