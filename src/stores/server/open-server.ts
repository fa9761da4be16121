import { redactUrl } from '../../redact.ts';
import { bullmqServer, type ServerConnection, type ServerConnectionOptions } from './bullmq-server.ts';
import { connectPostgres } from './postgres/postgres-connection.ts';
import { connectRedis } from './redis/redis-connection.ts';
import { schemeOf, assertServerUrl, type Scheme } from './server-url.ts';
import type { Server } from './server.ts';

const CONNECTORS = {
  'redis:': connectRedis,
  'rediss:': connectRedis,
  'postgres:': connectPostgres,
  'postgresql:': connectPostgres,
} satisfies Record<Scheme, (url: string, options: ServerConnectionOptions) => Promise<ServerConnection>>;

/** Default timeout of a command. A server on the same network responds a thousand times faster. */
const RESPONSE_MS = 5_000;

/** Throws ConfigError for a malformed URL or a missing driver, and QueueError for a server that cannot be used. */
export async function openServer(given: string, { responseMs = RESPONSE_MS } = {}): Promise<Server> {
  const scheme = schemeOf(given);
  if (scheme === undefined) throw new Error(`No server: ${redactUrl(given)}`);
  // Writes the scheme in lower case, because the driver does not use TLS for `REDISS:`.
  const url = scheme + given.slice(scheme.length);
  const place = placeOf(url);
  assertServerUrl(url, { scheme, place });
  return bullmqServer(await CONNECTORS[scheme](url, { place, responseMs }));
}

/** The URL without userinfo and parameters, of which only some are known to be harmless. */
function placeOf(url: string): string {
  return redactUrl(url).replace(/[?#].*$/s, '');
}
