// Needs redis-server, postgres.
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import { Engine } from '../../src/engine/engine.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { createUndiciTransport } from '../../src/transport/undici-transport.ts';
import { hasServer, SERVER_KINDS, startServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { startHooks } from './hooks.ts';
import { receiving } from './receiving.ts';
import { nextJson } from './running-command.ts';

const WRITE_KEY = 'wk-of-the-announced';
/** So rarely that no message arrives by polling. */
const POLL_MS = 3_600_000;

for (const kind of ['sqlite', ...SERVER_KINDS] as const) {
  describe.skipIf(kind !== 'sqlite' && !hasServer(kind))(`messages of another process on ${kind}`, () => {
    it('wake an engine that does not poll', async () => {
      const receiver = await receiving();
      const server = kind === 'sqlite' ? undefined : await startServer(kind);
      onTestFinished(() => server?.remove());
      const store = server?.url ?? join(temporaryFolder(), 'hooks.db');
      const env = { HOOKS_URL: receiver.url, HOOKS_WRITE_KEY: WRITE_KEY, HOOKS_DATA_DIR: temporaryFolder() };
      const flags = ['--port', '0', '--no-deliver', '-q', '-o', 'json', '--allow-private'];
      const serve = startHooks(['serve', ...flags, '--store', store], { env });
      const url = String((await nextJson(serve))['url']);
      const stop = await startEngine(store, receiver.url);
      // Calls again and again, because the first announcements may precede the connection of the engine.
      let calls = 0;
      const hasArrived = async (): Promise<boolean> => {
        expect(await call(url, `user-${calls++}`)).toBe(200);
        return receiver.requests.length > 0;
      };
      await until(hasArrived, 'a message');
      await stop();
      expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0 });
    }, 60_000);
  });
}

/** Starts an engine in this process, on the store. Returns a function that closes everything. */
async function startEngine(store: string, url: string): Promise<() => Promise<void>> {
  const open = await openDurableQueue({ store, dataDir: temporaryFolder(), clock: systemClock });
  const webhooks = [{ url, headers: {} }];
  const destination = { enabled: true, sharedSecrets: [], webhooks, delivery: DELIVERY_DEFAULTS };
  const transport = createUndiciTransport({ addresses: 'any', allowProxy: false });
  const engine = new Engine({
    sources: { default: { destinations: { Webhooks: destination } } },
    queue: open.queue,
    transport,
    clock: systemClock,
    userAgent: 'hooks-cli/0.0.0',
    pollMs: POLL_MS,
    unknownLanes: 'leave',
  });
  engine.start();
  return async () => {
    await engine.close();
    await open.close();
    await transport.close();
  };
}

async function call(url: string, userId: string): Promise<number> {
  const body = JSON.stringify({ userId, event: 'Signup', messageId: userId, writeKey: WRITE_KEY });
  return (await fetch(`${url}/v1/track`, { method: 'POST', body })).status;
}
