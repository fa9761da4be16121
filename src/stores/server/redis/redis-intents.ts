import type { Redis } from 'ioredis';
import type { Intent, Intents } from '../server.ts';

/** A set of ids by when each is due, and a table of their texts. */
const KEYS = { due: 'hooks:intents', texts: 'hooks:intents:texts' };

export function redisIntents(redis: Redis): Intents {
  const together = async (commands: [name: string, ...args: string[]][]): Promise<void> => {
    const answers = (await redis.multi(commands).exec()) ?? [];
    for (const [error] of answers) if (error !== null) throw error;
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
      const ids = await redis.zrangebyscore(KEYS.due, '-inf', now, 'LIMIT', 0, limit);
      if (ids.length === 0) return [];
      // Another process that takes the same at the same time does the same: that is done twice harmlessly.
      await redis.zadd(KEYS.due, 'XX', ...ids.flatMap((id) => [againAt, id]));
      const texts = await redis.hmget(KEYS.texts, ...ids);
      return ids.map((id, index): Intent => ({ id, text: texts[index] ?? '', dueAt: againAt }));
    },
  };
}
