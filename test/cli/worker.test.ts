import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startReceiver } from '../../src/app/explained.ts';
import { parseScript } from '../../src/receiver/response/script.ts';
import { ask, run } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks } from './run-in-process.ts';

it('hooks worker logs an outage as serve does, and has the metrics of what it delivers', async () => {
  const receiver = await startReceiver({
    secrets: ['s'],
    script: parseScript('503x6,200'),
    onRequest: () => {},
  });
  onTestFinished(() => receiver.close());
  const config = { webhooks: [`${receiver.url}/hook`], sharedSecret: 's', writeKey: 'key' };
  const cwd = temporaryFolder({
    '.hooksrc.json': JSON.stringify(config),
    'day.ndjson': Array.from(
      { length: 6 },
      (_, user) => `{"type":"track","event":"a","userId":"u${user}"}\n`,
    ).join(''),
  });
  const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  await hooks(['replay', 'day.ndjson', '--queue', '-q'], place);
  const flags = ['--allow-private', '-o', 'json', '--metrics-port', '0'];
  const worker = startHooks(['worker', ...flags], { ...place, timeoutMs: 60_000 });
  const ready = JSON.parse((await worker.lines.next()).value ?? '') as Record<string, unknown>;
  expect(ready).toMatchObject({ ready: true, metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });
  await until(() => worker.stderr().includes('a webhook is down'), 'the line of the outage');
  const text = await (await fetch(`${String(ready['metrics'])}/metrics`)).text();
  expect(text).toMatch(/^hooks_webhook_up\{.*\} 0$/m);
  expect(text).toMatch(/^hooks_attempts_total\{.*result="retryable"\} [3-6]$/m);
  expect(text).not.toContain('reason="invalid"');
  await until(() => worker.stderr().includes('a webhook is back'), 'the line of its return');
  const { code, stderr } = await worker.stop('SIGTERM');
  expect(code).toBe(0);
  const log = stderr
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: string }).msg);
  expect(log).toEqual([
    'delivering',
    'a webhook is down',
    'a webhook is back',
    'stopping: attempts in flight are finished',
    'stopped',
  ]);
});

it('hooks worker puts back a delivery that no claim could find, and logs it', async () => {
  const receiver = await startReceiver({ secrets: ['s'], script: parseScript('200'), onRequest: () => {} });
  onTestFinished(() => receiver.close());
  const config = { webhooks: [`${receiver.url}/hook`], sharedSecret: 's', writeKey: 'key' };
  const cwd = temporaryFolder({
    '.hooksrc.json': JSON.stringify(config),
    'day.ndjson': Array.from(
      { length: 6 },
      (_, user) => `{"type":"track","event":"a","userId":"u${user}"}\n`,
    ).join(''),
  });
  const file = join(cwd, 'data/hooks.db');
  const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  await hooks(['replay', 'day.ndjson', '--queue', '-q'], place);
  await run(file, 'UPDATE waiting SET seq = seq + 16384 WHERE seq = (SELECT min(seq) + 5 FROM waiting)');
  const worker = startHooks(['worker', '--allow-private', '-o', 'json'], { ...place, timeoutMs: 60_000 });
  const delivered = "SELECT count(*) FROM queue WHERE state = 'delivered'";
  await until(async () => (await ask(file, delivered))[0] === '6', 'all to be delivered');
  const { stderr } = await worker.stop('SIGTERM');
  expect(stderr).toContain('"deliveries":1,"msg":"deliveries that no claim could find were put back"');
});
