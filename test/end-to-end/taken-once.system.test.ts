// Needs redis-server, postgres.
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasServer, SERVER_KINDS, startServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { nextUrl } from './running-command.ts';

const MESSAGES = 100;
const BATCH = 600;
const ROUNDS = 4;
const WRITE_KEY = 'wk-of-both';
const STORES = ['sqlite', ...SERVER_KINDS.filter(hasServer)] as const;

async function storeFlags(kind: (typeof STORES)[number]): Promise<readonly string[]> {
  if (kind === 'sqlite') return [];
  const server = await startServer(kind);
  onTestFinished(() => server.remove());
  return ['--store', server.url];
}

async function pairOn(kind: (typeof STORES)[number]) {
  const env = {
    HOOKS_URL: 'http://127.0.0.1:9/',
    HOOKS_WRITE_KEY: WRITE_KEY,
    HOOKS_DATA_DIR: temporaryFolder(),
  };
  const flags = await storeFlags(kind);
  const args = ['serve', '--port', '0', '--no-deliver', '-o', 'json', ...flags];
  const serves = [1, 2].map(() => startHooks(args, { env, timeoutMs: 60_000 }));
  const urls = await Promise.all(serves.map(nextUrl));
  return {
    /** Posts these bodies concurrently, one to each service. */
    post: (path: string, bodies: readonly object[]): Promise<readonly number[]> =>
      Promise.all(
        urls.map(async (url, index) => {
          const body = JSON.stringify({ ...bodies[index], writeKey: WRITE_KEY });
          return (await fetch(`${url}${path}`, { method: 'POST', body })).status;
        }),
      ),
    /** Stops both. Returns the number of waiting messages. */
    count: async (): Promise<number> => {
      await Promise.all(serves.map((serve) => serve.stop('SIGTERM')));
      const { stdout } = await hooks(['queue', 'stats', '-o', 'json', ...flags], { env });
      return jsonLines<Total>(stdout).at(-1)?.total.pending ?? NaN;
    },
  };
}

interface Total {
  readonly total: { readonly pending: number };
}

function message(id: number): object {
  return { userId: 'u', event: 'e', messageId: `m${id}` };
}

describe('a message that two services of one store get at the same time', () => {
  it.each(STORES)('is queued once, and acknowledged by both (%s)', async (kind) => {
    const { post, count } = await pairOn(kind);
    const statuses: number[] = [];
    for (let id = 0; id < MESSAGES; id++) {
      statuses.push(...(await post('/v1/track', [message(id), message(id)])));
    }
    expect(await count()).toBe(MESSAGES);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it.each(STORES)('is queued once if it is in batches of different order (%s)', async (kind) => {
    const { post, count } = await pairOn(kind);
    const statuses: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const batch = Array.from({ length: BATCH }, (_, index) => ({
        ...message(round * BATCH + index),
        type: 'track',
      }));
      statuses.push(...(await post('/v1/batch', [{ batch }, { batch: batch.toReversed() }])));
    }
    expect(await count()).toBe(ROUNDS * BATCH);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });
});
