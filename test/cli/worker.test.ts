import { join } from 'node:path';
import { expect, it } from 'vitest';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { ask, run } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks } from './run-in-process.ts';

/** Starts a receiver, and queues six messages for it. Returns the folder and the environment of the queue. */
async function queued(script: string): Promise<{ cwd: string; env: { HOOKS_DATA_DIR: string } }> {
  const { url } = await receiving({ secret: 's', respond: script });
  const config = { webhooks: [`${url}/hook`], sharedSecret: 's', writeKey: 'key' };
  const messages = [0, 1, 2, 3, 4, 5].map((user) => `{"type":"track","event":"a","userId":"u${user}"}\n`);
  const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify(config), 'day.ndjson': messages.join('') });
  const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  await hooks(['replay', 'day.ndjson', '--queue', '-q'], place);
  return place;
}

it('hooks worker logs an outage like serve, and serves metrics of its deliveries', async () => {
  const place = await queued('503x6,200');
  const flags = ['--allow-private', '-o', 'json', '--metrics-port', '0'];
  const worker = startHooks(['worker', ...flags], { ...place, timeoutMs: 60_000 });
  const ready = await nextJson(worker);
  expect(ready).toMatchObject({ ready: true, metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  await until(() => worker.stderr().includes('a webhook is down'), 'the line of the outage');
  const text = await (await fetch(`${String(ready['metrics'])}/metrics`)).text();
  expect(text).toMatch(/^hooks_webhook_up\{.*\} 0$/m);
  expect(text).toMatch(/^hooks_attempts_total\{.*result="retryable"\} [3-6]$/m);
  expect(text).not.toContain('reason="invalid"');
  await until(() => worker.stderr().includes('a webhook is back'), 'the line of the recovery');
  const { code, stderr } = await worker.stop('SIGTERM');
  expect(code).toBe(0);
  expect(jsonLines(stderr).map(({ msg }) => msg)).toEqual([
    'delivering',
    'a webhook is down',
    'a webhook is back',
    'stopping: attempts in flight are finished',
    'stopped',
  ]);
});

it('hooks worker repairs and logs a delivery that no claim could find', async () => {
  const place = await queued('200');
  const file = join(place.env.HOOKS_DATA_DIR, 'hooks.db');
  await run(file, 'UPDATE waiting SET seq = seq + 16384 WHERE seq = (SELECT min(seq) + 5 FROM waiting)');
  const worker = startHooks(['worker', '--allow-private', '-o', 'json'], { ...place, timeoutMs: 60_000 });
  const delivered = "SELECT count(*) FROM queue WHERE state = 'delivered'";
  await until(async () => (await ask(file, delivered))[0] === '6', 'all to be delivered');
  const { stderr } = await worker.stop('SIGTERM');
  expect(stderr).toContain('"deliveries":1,"msg":"deliveries that no claim could find were put back"');
});
