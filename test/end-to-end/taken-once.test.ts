import { describe, expect, it, onTestFinished } from 'vitest';
import { hasServer, SERVER_KINDS, startServer } from '../store/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './hooks.ts';

const MESSAGES = 100;
const WRITE_KEY = 'wk-of-both';
const STORES = ['sqlite', ...SERVER_KINDS.filter(hasServer)] as const;

async function storeFlags(kind: (typeof STORES)[number]): Promise<readonly string[]> {
  if (kind === 'sqlite') return [];
  const server = await startServer(kind);
  onTestFinished(() => server.remove());
  return ['--store', server.url];
}

describe('a message that comes to two services of one store at the same moment', () => {
  it.each(STORES)(
    'is taken once, and told to be taken by both (%s)',
    async (kind) => {
      const env = {
        HOOKS_URL: 'http://127.0.0.1:9/',
        HOOKS_WRITE_KEY: WRITE_KEY,
        HOOKS_DATA_DIR: temporaryFolder(),
      };
      const flags = await storeFlags(kind);
      const serves = [1, 2].map(() =>
        startHooks(['serve', '--port', '0', '--no-deliver', '-o', 'json', ...flags], {
          env,
          timeoutMs: 60_000,
        }),
      );
      const urls = await Promise.all(
        serves.map(
          async ({ lines }) => (JSON.parse((await lines.next()).value ?? '') as { url: string }).url,
        ),
      );
      const statuses: number[] = [];
      for (let message = 0; message < MESSAGES; message++) {
        const body = JSON.stringify({
          userId: 'u',
          event: 'e',
          messageId: `m${message}`,
          writeKey: WRITE_KEY,
        });
        const answers = await Promise.all(
          urls.map((url) => fetch(`${url}/v1/track`, { method: 'POST', body })),
        );
        statuses.push(...answers.map(({ status }) => status));
      }
      await Promise.all(serves.map((serve) => serve.stop('SIGTERM')));
      const { stdout } = await hooks(['queue', 'stats', '-o', 'json', ...flags], { env });
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        total: { pending: MESSAGES },
      });
      expect(new Set(statuses)).toEqual(new Set([200]));
    },
    60_000,
  );
});
