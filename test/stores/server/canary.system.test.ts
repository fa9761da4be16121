// Needs redis-server, postgres.
import { createRequire } from 'node:module';
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { openServer } from '../../../src/stores/server/open-server.ts';
import type { Server } from '../../../src/stores/server/server.ts';
import { argv } from '../../end-to-end/argv.ts';
import { hooks } from '../../end-to-end/hooks.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { hasServer, SERVER_KINDS, sql, startServer, type TestServer } from './servers.ts';

/** The name of a canary that a killed process left an hour ago. */
const LEFT = `hooks-canary-${Date.now() - 3_600_000}-left`;
const QUEUE_KEYS = createRequire(import.meta.url).resolve('bullmq/dist/cjs/classes/queue-keys.js');
/** Renames the key of the waiting entries in BullMQ, as another version of it could. */
const RENAMED = `const { QueueKeys } = require(${JSON.stringify(QUEUE_KEYS)});
const { toKey } = QueueKeys.prototype;
QueueKeys.prototype.toKey = function (name, type) { return toKey.call(this, name, type === 'wait' ? 'queued' : type); };
`;
const CONFIG = 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: s\nwriteKey: k\n';

// One after the other, because Vitest cannot tell which of several concurrent tests has finished.
for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`the check of BullMQ on ${kind}`, () => {
    let running: TestServer;
    let server: Server;

    beforeEach(async () => {
      running = await startServer(kind);
      server = await openServer(running.url);
      onTestFinished(async () => {
        await server.close();
        await running.remove();
      });
    });

    it('leaves nothing on the server, even if several processes start at once or one was killed', async () => {
      await server.add([{ series: LEFT, id: 'd-first', name: 'n', text: '{}', addedAt: 1 }]);
      const others = await Promise.all([openServer(running.url), openServer(running.url)]);
      await Promise.all([server, ...others].map((each) => each.check()));
      await Promise.all(others.map((each) => each.close()));
      expect(await server.registered()).toEqual([]);
      expect(await server.findSeries('hooks')).toEqual([]);
      if (kind === 'postgres') {
        expect(
          await sql(
            running.url,
            'SELECT queue FROM bullmq.event UNION ALL SELECT queue FROM bullmq.meta UNION ALL SELECT line FROM hooks.lines',
          ),
        ).toEqual([]);
        return;
      }
      const admin = new Redis(running.url);
      onTestFinished(() => admin.disconnect());
      expect(await admin.keys('*')).toEqual(['hooks:checked']);
    });

    if (kind === 'redis') {
      it.each([argv`serve --port 0 --allow-private`, argv`worker --allow-private`, argv`replay - --queue`])(
        'rejects a BullMQ that renamed a key, with both versions: %s',
        async (...words) => {
          const cwd = temporaryFolder({ '.hooksrc.yaml': CONFIG, 'renamed.cjs': RENAMED });
          const env = { NODE_OPTIONS: `--require=${cwd}/renamed.cjs` };
          const result = await hooks([...words, '--store', running.url], {
            cwd,
            env,
            stdin: '{"type":"track","event":"A","userId":"u"}',
          });
          expect(result).toMatchObject({
            code: 2,
            stdout: '',
            stderr: expect.stringContaining('does not store entries'),
          });
          expect(result.stderr).toMatch(
            /bullmq 6\.\d+\.\d+ does not store entries as bullmq >=6\.3 <6\.8 does: /,
          );
          expect(result.stderr).toContain('npm install "bullmq@>=6.3 <6.8"');
          expect(await server.findSeries('hooks/')).toEqual([]);
        },
      );

      it('is skipped with a warning while the memory is full, and made up for when there is room', async () => {
        const admin = new Redis(running.url);
        onTestFinished(() => admin.disconnect());
        await admin.config('SET', 'maxmemory', '1');
        await server.check({ toAdd: false });
        const warning = expect.stringContaining('is full, so hooks cannot check');
        expect(await server.warnings()).toEqual([warning]);
        await admin.config('SET', 'maxmemory', '0');
        const isChecked = () =>
          server.check().then(
            () => true,
            () => false,
          );
        // The driver reconnects once, because the full server rejected a script.
        await until(isChecked, 'the check to pass');
        expect(await server.warnings()).toEqual([]);
      });
    } else {
      it('rejects a BullMQ whose function has another name', async () => {
        await sql(running.url, 'ALTER FUNCTION bullmq.promote(text, text) RENAME TO promote_job');
        const error: unknown = await server.check().catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(ConfigError);
        expect(String(error)).toMatch(
          /bullmq 6\.\d+\.\d+ does not store entries as bullmq >=6\.3 <6\.8 does: .*promote/,
        );
      });
    }
  });
}
