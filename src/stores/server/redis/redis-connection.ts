import type { Redis } from 'ioredis';
import type { BackendFactory, IQueueBackend } from 'bullmq';
import { openBackend, type ServerConnection, type ServerConnectionOptions } from '../bullmq-server.ts';
import { BULLMQ_PREFIX, EVENTS_LIMIT, toJob } from '../bullmq-job.ts';
import { assertBullmqVersion, loadPackages } from '../packages.ts';
import type { NewEntry } from '../server.ts';
import { redisFacts } from './redis-facts.ts';
import { redisIntents } from './redis-intents.ts';
import { redisLines } from './redis-lines.ts';
import { redisLookup } from './redis-lookup.ts';
import { serverError } from '../server-error.ts';

/** An error response of the server to a command. */
interface RedisReplyError extends Error {
  readonly command?: { readonly name: string };
}

/** A set of the names of all series. */
const REGISTRY = 'hooks:series';
const LONGEST_RECONNECT_WAIT_MS = 1_000;
/** Looked through in one step of a search through all keys: in less than a millisecond. */
const SCANNED_AT_ONCE = 1_000;

/** Rejects with QueueError for a server that cannot be used. */
export async function connectRedis(
  url: string,
  { place, responseMs }: ServerConnectionOptions,
): Promise<ServerConnection> {
  const { Redis } = await loadPackages(place, ['ioredis', 'bullmq'], () => {
    assertBullmqVersion();
    return import('ioredis');
  });
  const redis = await openRedis(Redis, url, { place, responseMs });
  let client: object | undefined;
  const backend: ServerConnection['backend'] = async (name) => {
    // To load it takes 0.4 s, which a command that only looks need not wait for.
    const { createIORedisClient, createRedisBackend } = await import('bullmq');
    // BullMQ would wait for it.
    if (redis.status !== 'ready') throw new Error('Connection is closed');
    client ??= withKnownInfo(createIORedisClient(redis), redis);
    const factory = createRedisBackend as BackendFactory<IQueueBackend, object>; // a client is one of what it takes
    return openBackend(factory, name, client);
  };
  let adder: IQueueBackend | undefined;
  return {
    place,
    backend,
    entries: (series) => redisLookup(redis, series),
    lines: redisLines(redis),
    intents: redisIntents(redis),
    facts: redisFacts(redis),
    add: async (entries) => {
      adder ??= await backend('hooks');
      const flow = entries.map(toFlow);
      // In this order on the one connection: what is added is registered.
      await Promise.all([register(redis, new Set(entries.map(({ series }) => series))), addAll(adder, flow)]);
    },
    registered: () => redis.smembers(REGISTRY),
    register: (series) => register(redis, new Set(series)),
    findSeries: (prefix) => findSeries(redis, prefix),
    warnings: () => warnings(redis, place),
    failed: (error) => {
      // The driver takes a script for known that it first sent in a transaction which was refused, as when the memory is
      // full: for as long as the connection lasts.
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
    // A connection that is dead and not closed: nothing else would end it for minutes.
    socketTimeout: 2 * responseMs,
    // A command rejects at once while the connection is lost, and may be tried again.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(50 * times, LONGEST_RECONNECT_WAIT_MS),
    // A primary that became a replica: the name may lead to the new one by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  let firstError: unknown;
  redis.on('error', (error: RedisReplyError) => {
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
  return redis;
}

/**
 * BullMQ asks each time it opens a series, and goes by the version: which commands it may use. The section with the memory's
 * settings is left out: it would say on the console what `warnings` says.
 */
function withKnownInfo<C extends object>(client: C, redis: Redis): C {
  let known: string | undefined;
  const info = async (): Promise<string> => (known ??= await redis.info('server'));
  return new Proxy(client, {
    get: (target, key): unknown => (key === 'info' ? info : Reflect.get(target, key)),
  });
}

function toFlow(entry: NewEntry): FlowEntry {
  const [jobData, jobId, queueName] = [toJob(entry), entry.id, entry.series];
  return { jobData, jobId, queueName, parentKeyOpts: {}, prefix: BULLMQ_PREFIX };
}

type FlowEntry = Parameters<IQueueBackend['addFlow']>[0][number];

async function addAll(backend: IQueueBackend, flow: FlowEntry[]): Promise<void> {
  const failed = (await backend.addFlow(flow)).find(([error]) => error !== null);
  if (failed !== undefined) throw failed[0] ?? new Error('nothing was added');
}

async function register(redis: Redis, series: ReadonlySet<string>): Promise<void> {
  if (series.size === 0) return;
  const { field, value } = EVENTS_LIMIT;
  const limiting = [...series].map((name) => redis.hset(`${BULLMQ_PREFIX}:${name}:meta`, field, value));
  await Promise.all([redis.sadd(REGISTRY, ...series), ...limiting]);
}

/** Finds the names of series by the key that each has from its first entry on. */
async function findSeries(redis: Redis, prefix: string): Promise<readonly string[]> {
  const [start, end] = [`${BULLMQ_PREFIX}:`, ':meta'];
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
    // The connection is gone already, as `close` wants it.
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
