import { bullmqServer } from './bullmq-server.ts';
import { connectPostgres } from './postgres/postgres-connection.ts';
import { connectRedis } from './redis/redis-connection.ts';
import { readServerUrl } from './server-url.ts';
import type { Server } from './server.ts';

/** Default timeout of a command. A server on the same network responds a thousand times faster. */
const RESPONSE_MS = 5_000;

/** Throws ConfigError for a malformed URL or a missing driver, and QueueError for a server that cannot be used. */
export async function openServer(given: string, { responseMs = RESPONSE_MS } = {}): Promise<Server> {
  const { kind, url, place } = readServerUrl(given);
  const connect = kind === 'redis' ? connectRedis : connectPostgres;
  return bullmqServer(await connect(url, { place, responseMs }));
}
