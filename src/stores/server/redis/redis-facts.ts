import type { Redis } from 'ioredis';
import { inParts } from '../in-parts.ts';
import type { Facts } from '../server.ts';

/** Maximum names of facts to read in one command. */
const ASKED_AT_ONCE = 1_000;

/** Stores each fact under a key, which the server removes when it expires. */
export function redisFacts(redis: Redis): Facts {
  return {
    put: async (facts) => {
      await Promise.all(
        facts.map(({ name, text, expiresAt }) =>
          expiresAt === undefined
            ? redis.set(keyOf(name), text)
            : redis.set(keyOf(name), text, 'PXAT', Math.ceil(expiresAt)),
        ),
      );
    },
    get: async (names) => {
      const texts = await inParts(names, ASKED_AT_ONCE, (some) => redis.mget(some.map(keyOf)));
      return texts.map((text) => text ?? undefined);
    },
    remove: async (names) => void (await redis.del(...names.map(keyOf))),
  };
}

function keyOf(name: string): string {
  return `hooks:${name}`;
}
