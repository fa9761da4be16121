import { randomBytes } from 'node:crypto';
import type { ChainableCommander, Redis } from 'ioredis';
import type { IRedisClient } from 'bullmq';
import type { ServerConnection, ServerConnectionOptions } from '../bullmq-server.ts';
import { toJob } from '../bullmq-job.ts';
import { EVENTS_LIMIT, KEY, PREFIX } from '../bullmq-layout.ts';
import { assertBullmqVersion, loadPackages } from '../packages.ts';
import type { NewEntry } from '../server.ts';
import { redisAnnouncements } from './redis-announcements.ts';
import { redisFacts } from './redis-facts.ts';
import { JOIN_LINES } from './redis-scripts.ts';
import { keyOf, linesOf, redisSeries, resultsOf } from './redis-series.ts';
import { serverError } from '../server-error.ts';

/** An error response of the server to a command. */
interface RedisReplyError extends Error {
  readonly command?: { readonly name: string };
}

/** Key of the set of all series names. */
const REGISTRY = 'hooks:series';
const LONGEST_RECONNECT_WAIT_MS = 1_000;
/** Keys to scan per command, which takes less than a millisecond. */
const SCANNED_AT_ONCE = 1_000;

/** Throws QueueError for a server that cannot be used. */
export async function connectRedis(
  url: string,
  { place, responseMs }: ServerConnectionOptions,
): Promise<ServerConnection> {
  const { Redis } = await loadPackages(place, ['ioredis', 'bullmq'], () => {
    assertBullmqVersion();
    return import('ioredis');
  });
  const redis = await openRedis(Redis, url, { place, responseMs });
  const [facts, announcements] = [redisFacts(redis), redisAnnouncements(redis)];
  let backend: Promise<Backend> | undefined;
  const loaded = (): Promise<Backend> => {
    backend ??= openBackend(redis);
    // Forgets a backend that could not be opened, so that the next call tries again.
    backend.catch(() => (backend = undefined));
    return backend;
  };
  return {
    place,
    series: (name) => redisSeries(redis, name),
    facts,
    durableFacts: facts,
    add: async (entries) => {
      // Rejects at once without a connection, because BullMQ would wait for it.
      if (redis.status !== 'ready') throw new Error('Connection is closed');
      await addAll(await loaded(), entries);
      announcements.announce(entries);
    },
    backendOf: async (name) => (await loaded()).backend.forQueue(name),
    unregister: (name) => redis.srem(REGISTRY, name),
    registered: () => redis.smembers(REGISTRY),
    register: async (series) => void (await resultsOf(register(redis.multi(), series))),
    findSeries: (prefix) => findSeries(redis, prefix),
    watch: announcements.watch,
    warnings: () => warnings(redis, place),
    failed: (error) => {
      // Reconnects after NOSCRIPT: the driver sends the text of a script once per connection, which a full server rejects.
      if (String(error).includes('NOSCRIPT')) redis.disconnect(true);
    },
    close: () => close(redis),
  };
}

async function openRedis(
  Driver: typeof Redis,
  url: string,
  { place, responseMs }: ServerConnectionOptions,
): Promise<Redis> {
  const redis = new Driver(url, {
    lazyConnect: true,
    connectTimeout: responseMs,
    commandTimeout: responseMs,
    // Ends a connection that is dead without having been closed. Otherwise, it would stay open for minutes.
    socketTimeout: 2 * responseMs,
    // Makes commands reject at once while the connection is lost, so that callers can retry.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, LONGEST_RECONNECT_WAIT_MS),
    // Reconnects if the primary became a replica, because its host name may lead to the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let firstError: unknown;
  redis.on('error', (error: RedisReplyError) => {
    firstError ??= error;
    // Disconnects if the database cannot be selected: the driver would continue in database 0, which is another queue.
    if (error.command?.name === 'select') redis.disconnect(true);
  });
  try {
    await redis.connect();
  } catch (error) {
    redis.disconnect();
    throw serverError(firstError ?? error, place);
  }
  // Removes the limit on listeners, because every series listens to the connection.
  redis.setMaxListeners(0);
  return redis;
}

type Backend = Awaited<ReturnType<typeof openBackend>>;

/** Loads BullMQ's scripts, which takes 0.4 s. Read-only commands need not wait for that. */
async function openBackend(redis: Redis) {
  const { createIORedisClient, createRedisBackend } = await import('bullmq');
  const client: IRedisClient = createIORedisClient(redis);
  // Hides the memory settings from BullMQ, because it would print a warning that `warnings` already returns.
  const info = (): Promise<string> => redis.info('server');
  const connection = new Proxy(client, {
    get: (target, key): unknown => (key === 'info' ? info : Reflect.get(target, key)),
  });
  const options = { connection, prefix: PREFIX };
  const backend = createRedisBackend('hooks', options);
  // Ignores errors of the connection, because each command rejects by itself.
  backend.on('error', () => {});
  await backend.waitUntilReady();
  return { client, backend };
}

async function addAll({ client, backend }: Backend, entries: readonly NewEntry[]): Promise<void> {
  const adding = client.multi();
  const mark = randomBytes(6).toString('base64url');
  const names = [...new Set(entries.map(({ series }) => series))];
  const all = adding as unknown as ChainableCommander; // BullMQ's client wraps it
  for (const name of names) {
    const { keys } = backend.forQueue(name);
    const some = entries.filter(({ series }) => series === name);
    for (const entry of some) {
      await backend.addJobToTransaction(adding, toJob(entry, mark), entry.id, {}, keys);
    }
    const inLines = some.filter(({ lines = [] }) => lines.length > 0);
    const args = inLines.flatMap((entry) => [entry.id, ...linesOf(entry)]);
    if (inLines.length > 0) all.eval(JOIN_LINES.lua, 1, keyOf(name), mark, ...args);
  }
  await resultsOf(register(all, names));
}

function register(asking: ChainableCommander, series: readonly string[]): ChainableCommander {
  for (const name of series) asking.hset(keyOf(name) + KEY.meta, EVENTS_LIMIT.field, EVENTS_LIMIT.value);
  return asking.sadd(REGISTRY, ...series);
}

/** Finds the names of series by the `meta` key that each has since its first entry. */
async function findSeries(redis: Redis, prefix: string): Promise<readonly string[]> {
  const [start, end] = [`${PREFIX}:`, `:${KEY.meta}`];
  const pattern = `${start}${prefix.replaceAll(/[*?[\]\\]/g, '\\$&')}*${end}`;
  const names = new Set<string>();
  for (let cursor: string | undefined; cursor !== '0';) {
    const [next, keys] = await redis.scan(cursor ?? '0', 'MATCH', pattern, 'COUNT', SCANNED_AT_ONCE);
    for (const key of keys) names.add(key.slice(start.length, -end.length));
    cursor = next;
  }
  return [...names];
}

async function close(redis: Redis): Promise<void> {
  try {
    await redis.quit();
  } catch {
    // A failed QUIT is ignored, because the connection is closed already.
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
