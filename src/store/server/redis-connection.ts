import type { Redis } from 'ioredis';
import type { BackendFactory, IQueueBackend } from 'bullmq';
import { openBackend, type Connection, type ConnectionOptions } from './bullmq-server.ts';
import { lineName } from './line-name.ts';
import { loadPackages } from './packages.ts';
import type { InLine, Lines } from './server.ts';
import { serverError } from './server-error.ts';

/** What the server has answered to a command. */
interface ReplyError extends Error {
  readonly command?: { readonly name: string };
}

const LONGEST_RECONNECT_WAIT_MS = 1_000;

/** Rejects with QueueError for a server that cannot be used. */
export async function connectRedis(url: string, { place, answerMs }: ConnectionOptions): Promise<Connection> {
  const [{ Redis }, { createRedisBackend }] = await loadPackages(place, ['ioredis', 'bullmq'], () =>
    Promise.all([import('ioredis'), import('bullmq')]),
  );
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: answerMs,
    commandTimeout: answerMs,
    // A connection that is dead and not closed: nothing else would end it for minutes.
    socketTimeout: 2 * answerMs,
    // Whoever asks while it is gone is told so at once, and may ask again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, LONGEST_RECONNECT_WAIT_MS),
    // A primary that became a replica: the name may lead to the new one by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let firstError: unknown;
  redis.on('error', (error: ReplyError) => {
    firstError ??= error;
    // The driver would go on in database 0, which is another queue.
    if (error.command?.name === 'select') redis.disconnect(true);
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw serverError(firstError ?? error, place);
  }
  // Every series listens to the connection.
  redis.setMaxListeners(0);
  return {
    place,
    backend: async (name, options) => {
      // BullMQ would wait for it.
      if (redis.status !== 'ready') throw new Error('Connection is closed');
      const factory = createRedisBackend as BackendFactory<IQueueBackend, Redis>; // a client is one of what it takes
      return openBackend(factory, { name, connection: redis, options });
    },
    lines: redisLines(redis),
    warnings: () => warnings(redis, place),
    failed: (error) => {
      // The driver takes a script for known that it first sent in a transaction which was refused, as when the memory is
      // full: for as long as the connection lasts.
      if (String(error).includes('NOSCRIPT')) redis.disconnect(true);
    },
    close: () => close(redis),
  };
}

async function close(redis: Redis): Promise<void> {
  try {
    await redis.quit();
  } catch {
    // It is gone, which is what was asked for.
  } finally {
    redis.disconnect();
  }
}

async function warnings(redis: Redis, place: string): Promise<readonly string[]> {
  const told = `${await redis.info('persistence')}\n${await redis.info('memory')}`;
  const of = (name: string): string | undefined => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(told)?.[1];
  const policy = of('maxmemory_policy');
  return [
    ...(of('aof_enabled') === '0'
      ? [
          `${place} keeps no append-only file: when it restarts, what waits may be lost; set \`appendonly yes\``,
        ]
      : []),
    ...(policy !== undefined && policy !== 'noeviction'
      ? [`${place} drops what waits when its memory is full (${policy}); set \`maxmemory-policy noeviction\``]
      : []),
  ];
}

/** A list for each key that somebody is in. */
function redisLines(redis: Redis): Lines {
  return {
    join: async (ids) => {
      const multi = redis.multi();
      for (const { id, keys } of ids) for (const key of distinct(keys)) multi.rpush(listOf(key), id);
      await all(multi.exec());
    },
    leave: async ({ id, keys }) => {
      const multi = redis.multi();
      for (const key of distinct(keys)) multi.lrem(listOf(key), 0, id);
      await all(multi.exec());
    },
    firsts: async (keys) => {
      const found = await Promise.all(keys.map((key) => redis.lindex(listOf(key), 0)));
      return found.map((id) => id ?? undefined);
    },
    lost: async (ids) => {
      // From the end: who is looked for has come last, most often.
      const places = await Promise.all(
        ids.map(({ id, keys }) => Promise.all(keys.map((key) => redis.lpos(listOf(key), id, 'RANK', -1)))),
      );
      return ids.filter((_, index) => places[index]?.includes(null)).map(({ id }) => id);
    },
  };
}

function listOf(key: string): string {
  return `hooks:line:${lineName(key)}`;
}

function distinct(keys: InLine['keys']): Iterable<string> {
  return new Set(keys);
}

async function all(answers: Promise<[Error | null, unknown][] | null>): Promise<void> {
  for (const [error] of (await answers) ?? []) if (error !== null) throw error;
}
