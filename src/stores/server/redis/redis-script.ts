import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** A script in Lua that the server runs in one step. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

export function redisScript(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}

/**
 * Begins a script that a server runs although its memory is full: none is stopped once it has begun to write, and DEL needs no memory. For
 * what empties the queue by delivering, in scripts whose first key is a series or a table.
 */
export const ALSO_WHEN_FULL = "redis.call('DEL', KEYS[1] .. ':none')";

/** Sends the script itself only to a server that does not know it yet, as after a restart. */
export async function runScript(
  redis: Redis,
  { lua, sha }: RedisScript,
  { keys, args }: { readonly keys: readonly string[]; readonly args: readonly string[] },
): Promise<unknown> {
  try {
    return await redis.evalsha(sha, keys.length, ...keys, ...args);
  } catch (error) {
    if (!String(error).includes('NOSCRIPT')) throw error;
    return redis.eval(lua, keys.length, ...keys, ...args);
  }
}
