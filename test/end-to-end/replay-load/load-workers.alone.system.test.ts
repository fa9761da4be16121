// Kills processes: a receiver and workers under load, four processes for each test.
import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { afterEachFile } from '../../clean-ups.ts';
import { sign } from '../../sign.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { argv } from '../argv.ts';
import { hooks, startHooks } from '../hooks.ts';
import { SECRET, track, tracks } from '../receiving.ts';
import { fields, loadOf, loadReceiver, type Respond } from './load-receiver.ts';

const WORKERS = ['--workers', '3', '--no-config', '-o', 'json'];
/** A machine that stands still for a second leaves messages unsent, which the counts of these tests exclude. */
const AGAIN = { retry: 2 };

async function loaded(
  flags: readonly string[],
  {
    respond,
    files = { 'day.ndjson': tracks(5) },
  }: { respond?: Respond; files?: Record<string, string> } = {},
) {
  const to = await loadReceiver(respond);
  const cwd = temporaryFolder(files);
  const result = await hooks(argv`replay day.ndjson --url ${to.url} --secret ${SECRET} ${flags} ${WORKERS}`, {
    cwd,
  });
  return { ...result, ...loadOf(result.stdout), to };
}

const tenthFails: Respond = (response, { number }) => {
  response.statusCode = number % 10 === 0 ? 503 : 200;
  response.end();
};

const slowly: Respond = (response) => void setTimeout(() => response.end(), 40);

const hundredSucceed: Respond = (response, { number }) => {
  response.statusCode = number <= 100 ? 200 : 503;
  response.end();
};

describe('hooks replay --load --workers', AGAIN, () => {
  it('delivers exactly the planned messages, each signed and with an id of its own', async () => {
    const { code, summary, load, seconds, to } = await loaded(argv`--load 100..200/s --for 2s --loop`);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ read: 300, delivered: 300, failed: 0, unsent: 0 });
    expect(load).toMatchObject({ sent: 300, acknowledged: 300, errors: 0 });
    expect(to.bodies).toHaveLength(300);
    expect(new Set(fields(to.bodies, 'messageId')).size).toBe(300);
    for (const [index, body] of to.bodies.entries()) {
      expect(to.headers[index]?.['x-signature']).toBe(sign(body, SECRET));
    }
    expect(seconds.map(({ second }) => second)).toEqual(seconds.map((_, index) => index + 1));
    expect(load.latencyMs['p50']).toBeGreaterThanOrEqual(load.serviceMs['p50'] ?? 0);
  });

  it('signs by built-in schemes, and by one of the config', async () => {
    const to = await loadReceiver();
    const config = {
      schemes: {
        acme: { headers: { 'X-Acme': 'v1={signature}' }, signs: '{body}', hash: 'sha256', encoding: 'hex' },
      },
    };
    const cwd = temporaryFolder({ 'day.ndjson': tracks(5), 'hooks.json': JSON.stringify(config) });
    const flags = ['-c', 'hooks.json', '--scheme', 'github,acme', '--secret', SECRET, '--workers', '2'];
    const { code, stderr } = await hooks(
      argv`replay day.ndjson --url ${to.url} --load 5/s --for 1s ${flags}`,
      {
        cwd,
      },
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(to.bodies).toHaveLength(5);
    for (const [index, body] of to.bodies.entries()) {
      const { 'x-acme': acme, 'x-hub-signature-256': github } = to.headers[index] ?? {};
      const hex = createHmac('sha256', SECRET).update(body).digest('hex');
      expect([acme, github]).toEqual([`v1=${hex}`, `sha256=${hex}`]);
    }
  });

  it('sends each message of a file once without --loop, and counts its invalid entries once', async () => {
    const day = `${tracks(10)}{"type":"nonsense"}\n${track(11, { event: 'Other' })}\n`;
    const { code, summary, to, stderr } = await loaded(argv`--load 50/s --for 1s --filter event!=Other`, {
      files: { 'day.ndjson': day },
    });
    expect(code).toBe(1);
    expect(summary).toMatchObject({ delivered: 10, invalid: 1, skipped: 1 });
    const ids = Array.from({ length: 10 }, (_, n) => `m${n}`);
    expect(to.bodies).toHaveLength(10);
    expect(new Set(fields(to.bodies, 'messageId'))).toEqual(new Set(ids));
    expect(stderr.match(/invalid:/g)).toHaveLength(1);
  });

  it('judges the sum of the workers, and counts its failures', async () => {
    const slo = ['--slo', 'errors<5%'];
    const { code, load } = await loaded(argv`--load 100/s --for 2s --loop ${slo}`, { respond: tenthFails });
    expect(load).toMatchObject({ sent: 200, acknowledged: 180, errors: 20 });
    expect(Object.values(load.failures)).toEqual([20]);
    expect(load.slo).toEqual([
      { expr: 'errors<5%', held: false, value: 10, brokeInSecond: expect.any(Number) as number },
    ]);
    expect(code).toBe(load.verdict === 'sender-bottleneck' ? 2 : 1);
  });

  it('shares the connections of --concurrency', async () => {
    const { to, load } = await loaded(argv`--load 200/s --for 1s --loop --concurrency 4`, {
      respond: slowly,
    });
    expect(to.peak()).toBeLessThanOrEqual(4);
    expect(load.sent + load.notSent).toBe(200);
  });

  it('finds the highest rate of all workers together', async () => {
    const { load } = await loaded(argv`--load max --for 6s --loop --slo errors=0`, {
      respond: hundredSucceed,
    });
    const [first] = load.max?.curve ?? [];
    expect(first?.rate).toBe(50);
    expect(load.max?.reached).toBeLessThanOrEqual(100);
  });

  it('prints the results so far after Ctrl-C', async () => {
    const to = await loadReceiver();
    const args = argv`replay day.ndjson --url ${to.url} --load 100/s --for 5m --loop ${WORKERS}`;
    const running = startHooks(args, { cwd: temporaryFolder({ 'day.ndjson': tracks(5) }) });
    await until(() => to.bodies.length > 30, 'messages');
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    const { summary, load } = loadOf(stdout);
    expect(load.stopped).toBe('interrupted');
    expect(summary.delivered).toBe(to.bodies.length);
  });

  it('accounts for each message when the receiver is killed and restarted', async () => {
    const cwd = temporaryFolder({ 'day.ndjson': tracks(5), stored: '' });
    const file = join(cwd, 'stored');
    const { child, port } = await storing(0, file);
    const flags = ['--received', 'wc -c < stored', '--slo', 'lost=0'];
    const running = startHooks(
      argv`replay day.ndjson --url http://127.0.0.1:${port} --load 100/s --for 4s --loop ${flags} ${WORKERS}`,
      { cwd },
    );
    await until(() => statSync(file).size > 50, 'messages');
    child.kill('SIGKILL');
    await once(child, 'exit');
    await storing(port, file);
    const { code, stdout } = await running.exited;
    const { summary, load } = loadOf(stdout);
    const stored = readFileSync(file).length;
    expect(summary.read).toBe(summary.delivered + summary.failed);
    expect(load.sent + load.notSent).toBe(400);
    expect(load.received).toBe(stored);
    expect(load).toMatchObject({ lost: 0, slo: [{ expr: 'lost=0', held: true, value: 0 }] });
    expect(code).toBe(load.verdict === 'sender-bottleneck' ? 2 : 0);
  });

  it.each([
    ['process.exit(7)', 'exit code 7'],
    ["throw new Error('out of order')", 'out of order'],
  ])('ends with an error when a worker ends by %s', async (statement, why) => {
    const preload = `const { isMainThread, workerData } = require('node:worker_threads');
const end = () => { ${statement}; };
const isSecond = !isMainThread && workerData?.loadSetup?.share.index === 1;
if (isSecond) setInterval(() => require('node:fs').existsSync('end') && end(), 20);`;
    const cwd = temporaryFolder({ 'day.ndjson': tracks(5), 'preload.cjs': preload });
    const to = await loadReceiver();
    const args = argv`replay day.ndjson --url ${to.url} --load 100/s --for 5m --loop ${WORKERS}`;
    const env = { NODE_OPTIONS: `--require ${join(cwd, 'preload.cjs')}` };
    const { exited } = startHooks(args, { cwd, env });
    await until(() => to.bodies.length > 10, 'messages');
    writeFileSync(join(cwd, 'end'), '');
    const { code, stderr } = await exited;
    expect(stderr).toContain(`error: Worker 2 of the load ended: ${why}`);
    expect(stderr).toContain('hint:  lower --workers');
    expect(code).toBe(2);
  });

  it('ends with the error of a file that a worker cannot read', async () => {
    const preload = `const { isMainThread } = require('node:worker_threads');
if (!isMainThread) require('node:fs').rmSync('day.ndjson', { force: true });`;
    const cwd = temporaryFolder({ 'day.ndjson': tracks(5), 'preload.cjs': preload });
    const to = await loadReceiver();
    const { code, stderr } = await hooks(
      argv`replay day.ndjson --url ${to.url} --load 100/s --for 5m --loop ${WORKERS}`,
      { cwd, env: { NODE_OPTIONS: `--require ${join(cwd, 'preload.cjs')}` } },
    );
    expect(stderr).toMatch(/^error: .*day\.ndjson/m);
    expect(code).toBe(2);
    expect(to.bodies).toHaveLength(0);
  });
});

const RECEIVER = fileURLToPath(new URL('storing-receiver.js', import.meta.url));
const children: ChildProcess[] = [];
afterEachFile(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

async function storing(port: number, file: string): Promise<{ child: ChildProcess; port: number }> {
  const child = spawn(process.execPath, [RECEIVER, String(port), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const [line] = (await once(child.stdout, 'data')) as [Buffer]; // a stream without encoding has buffers
  return { child, port: Number(line.toString()) };
}
