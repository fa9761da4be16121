// Needs redis-server, postgres.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasServer, SERVER_KINDS, startServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { IS_LONG, KILLS } from '../torture.ts';
import { postBatch } from './numbered-calls.ts';
import { hooks, startHooks, type RunningHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { nextUrl } from './running-command.ts';

const MESSAGES = 100;
const BATCH = 600;
const ROUNDS = 4;
const WRITE_KEY = 'wk-of-both';
const SERVE = ['serve', '--port', '0', '--no-deliver', '-o', 'json'];
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
  const args = [...SERVE, ...flags];
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

const SMALL_BATCH = 20;
const BATCHES = IS_LONG ? 10_000 : 400;
const CALLERS = 8;

/** A service that can be killed and started again. */
class Side {
  readonly #env: Record<string, string>;
  #serve: RunningHooks | undefined;
  #url = Promise.resolve('');

  constructor(env: Record<string, string>) {
    this.#env = env;
    this.start();
  }

  start(): void {
    this.#serve = startHooks(SERVE, { env: this.#env, timeoutMs: 600_000 });
    this.#url = nextUrl(this.#serve);
  }

  async stop(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#serve?.stop(signal);
  }

  /** Posts a batch until it is acknowledged. */
  async post(messageIds: readonly string[]): Promise<void> {
    while ((await postBatch(await this.#url, WRITE_KEY, messageIds)) !== 200) await delay(20);
  }
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

  it(
    'is queued once while both are killed and started again',
    async () => {
      const env = {
        HOOKS_URL: 'http://127.0.0.1:9/',
        HOOKS_WRITE_KEY: WRITE_KEY,
        HOOKS_DATA_DIR: temporaryFolder(),
      };
      const sides = [new Side(env), new Side(env)];
      let next = 0;
      const call = async (): Promise<void> => {
        while (next < BATCHES) {
          const first = SMALL_BATCH * next++;
          const ids = Array.from({ length: SMALL_BATCH }, (_, index) => `m${first + index}`);
          await Promise.all(sides.map((side) => side.post(ids)));
        }
      };
      const calls = Promise.all(Array.from({ length: CALLERS }, call));
      for (let killed = 0; killed < KILLS; killed++) {
        if (next >= BATCHES) break;
        await delay(100 + ((killed * 7919) % 400));
        const side = sides[killed % sides.length];
        await side?.stop('SIGKILL');
        side?.start();
      }
      await calls;
      await Promise.all(sides.map((side) => side.stop('SIGTERM')));
      const { stdout } = await hooks(['queue', 'export', '--deliveries'], { env });
      const ids = jsonLines<{ readonly messageId?: string }>(stdout).flatMap(
        ({ messageId }) => messageId ?? [],
      );
      expect(new Set(ids).size).toBe(BATCHES * SMALL_BATCH);
      expect(ids).toHaveLength(BATCHES * SMALL_BATCH);
    },
    60_000 + BATCHES * 50 + KILLS * 2_000,
  );
});
