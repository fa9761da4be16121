import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { argv } from './argv.ts';
import { CANARY, CANARY_IN_URL, SHARED_CANARY, expectNoCanary, startEcho, writtenIn } from './canaries.ts';
import { hooks as hooksHere } from '../cli/run-in-process.ts';
import { hooks, startHooks, type RunningHooks } from './hooks.ts';
import { nextUrl } from './running-command.ts';
import { jsonLines, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const echo = await startEcho();

const CONFIG = 'hooks.yaml';

/** Returns a config with a secret wherever one is possible. Its webhooks reject and repeat every request. */
function config(): string {
  const at = `user:${CANARY_IN_URL}@127.0.0.1:${echo}/hook?token=${CANARY_IN_URL}`;
  const headers = { Authorization: `Bearer ${CANARY}`, 'X-Api-Key': CANARY, Cookie: `a=${CANARY}` };
  const webhooks = [{ url: `http://127.0.0.1:${echo}/long`, headers }];
  const destinations = {
    A: { sharedSecret: [SHARED_CANARY], webhooks: [`http://${at}`], delivery: { retryFor: '1h' } },
    B: { sharedSecret: '${HOOKS_SECRET}', webhooks },
  };
  return JSON.stringify({ sources: { web: { writeKey: CANARY, destinations } } });
}

async function setUp() {
  const cwd = temporaryFolder({ [CONFIG]: config(), 'secret.txt': SHARED_CANARY });
  const dataDir = join(cwd, 'data');
  const env = { DEBUG: '*', HOOKS_DATA_DIR: dataDir, HOOKS_SECRET: SHARED_CANARY };
  const flags = ['-c', CONFIG, '-v', '-o', 'json'];
  return { cwd, dataDir, env, flags };
}

/** Returns all responses of a service, to valid and invalid calls. */
async function answersOf(url: string): Promise<string> {
  const basic = { authorization: `Basic ${Buffer.from(`${CANARY}:`).toString('base64')}` };
  const wrong = { authorization: `Basic ${Buffer.from(`${CANARY}-wrong:`).toString('base64')}` };
  const message = { type: 'track', userId: 'u1', event: 'e', messageId: 'm1', writeKey: CANARY };
  const asked: readonly [path: string, init: RequestInit][] = [
    ['/v1/batch', { method: 'POST', body: JSON.stringify({ batch: [message], writeKey: CANARY }) }],
    [
      '/v1/batch',
      { method: 'POST', headers: basic, body: JSON.stringify({ batch: [message, { ...message, type: 5 }] }) },
    ],
    [
      '/v1/batch',
      { method: 'POST', headers: basic, body: `{"batch":[{"writeKey":"${CANARY}","a":1,"a":2}]}` },
    ],
    ['/v1/batch', { method: 'POST', headers: basic, body: `{"writeKey":"${CANARY}",` }],
    ['/v1/track', { method: 'POST', headers: wrong, body: JSON.stringify(message) }],
    ['/v1/track', { method: 'POST', body: JSON.stringify({ ...message, writeKey: `${CANARY}-wrong` }) }],
    ['/v1/deletions', { method: 'POST', headers: basic, body: '{"userIds":["u2"]}' }],
    ['/v1/deletions', { method: 'POST', body: `{"userIds":[],"writeKey":"${CANARY}"}` }],
    [`/v1/deletions/none?writeKey=${CANARY_IN_URL}`, { headers: basic }],
    [`/${CANARY_IN_URL}`, { headers: basic }],
    ['/metrics', {}],
    ['/readyz', {}],
  ];
  const answers: string[] = [];
  for (const [path, init] of asked) {
    const response = await fetch(`${url}${path}`, init);
    answers.push(JSON.stringify([...response.headers]), await response.text());
  }
  return answers.join('\n');
}

/** Returns the command lines of a process and its children, which `ps` shows to every user. */
function commandLines(pid: number): string {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
  );
  return [pid, ...children].map((each) => readFileSync(`/proc/${each}/cmdline`, 'utf8')).join('\n');
}

async function stopped(running: RunningHooks): Promise<string> {
  const { code, stdout, stderr } = await running.stop('SIGTERM');
  expect([code, stderr.includes('fault of')]).toEqual([0, false]);
  return stdout + stderr;
}

const hasFailed = ({ state }: Record<string, unknown>): boolean => state === 'retrying' || state === 'dead';

it('serve, worker and queue neither print nor store nor return a secret', async () => {
  const { cwd, dataDir, env, flags } = await setUp();
  const serve = startHooks(argv`${flags} serve --port 0 --no-deliver`, { cwd, env, timeoutMs: 60_000 });
  expectNoCanary('a response', await answersOf(await nextUrl(serve)));
  const worker = startHooks([...flags, 'worker', '--allow-private'], { cwd, env, timeoutMs: 60_000 });
  const tried = async () =>
    jsonLines((await hooksHere(argv`-c ${CONFIG} queue list -o json`, { cwd, env })).stdout);
  let lines: readonly Record<string, unknown>[] = [];
  const haveFailed = async (): Promise<boolean> => {
    lines = await tried();
    return lines.filter(hasFailed).length >= 4;
  };
  await until(haveFailed, 'four failures', { seconds: 30 });

  if (process.platform === 'linux') {
    expectNoCanary('ps', [serve, worker].map(({ child }) => commandLines(child.pid ?? -1)).join('\n'));
  }
  expectNoCanary('the data folder in use', await writtenIn(dataDir));
  expect(readdirSync(dataDir)).toContain('hooks.db-wal');
  const ids = lines.map(({ id }) => String(id));
  const looks = [
    ...['list', 'stats', 'export'].map((verb) => ['queue', verb]),
    ...ids.map((id) => ['queue', 'show', id]),
    ['queue', 'retry', '--all', '--yes'],
    ['delete', 'u3', '--queue'],
    ['delete', 'u4', '--retry-for', '100ms'],
    ['replay', '-', '--queue'],
    ['config'],
  ];
  await Promise.all(
    looks.flatMap((args) =>
      [flags, ['-c', CONFIG, '-v']].map(async (form) => {
        // Commands without a client do not use `DEBUG`, so they can run in this process.
        const run = ['queue', 'config'].includes(args[0] ?? '') ? hooksHere : hooks;
        const { code, stdout, stderr } = await run([...form, ...args], { cwd, env, stdin: track(7) });
        expect([args.join(' '), code]).toEqual([args.join(' '), expect.toBeOneOf([0, 1])]);
        expectNoCanary(args.join(' '), stdout + stderr);
      }),
    ),
  );
  expectNoCanary('worker', await stopped(worker));
  expectNoCanary('serve', await stopped(serve));
  expectNoCanary('the data folder', await writtenIn(dataDir));
});

it('serve prints and stores no secret when it delivers itself', async () => {
  const { cwd, dataDir, env, flags } = await setUp();
  const serve = startHooks(argv`${flags} serve --port 0 --allow-private -v`, { cwd, env, timeoutMs: 60_000 });
  const url = await nextUrl(serve);
  await answersOf(url);
  const failures = () => serve.stderr().split('an attempt failed').length;
  await until(() => failures() >= 4, 'three failures in the log');
  expectNoCanary('metrics', await (await fetch(`${url}/metrics`)).text());
  expectNoCanary('serve', await stopped(serve));
  expectNoCanary('the data folder', await writtenIn(dataDir));
});

it('listen prints and saves no secret, and replay of its captures prints none', async () => {
  const { cwd, env, flags } = await setUp();
  mkdirSync(join(cwd, 'captures'));
  const listening = ['listen', '--port', '0', '--secret-file', 'secret.txt', '--save', 'captures'];
  const listen = startHooks([...flags, ...listening], { cwd, env });
  const at = new URL(await nextUrl(listen));
  const to = `http://user:${CANARY_IN_URL}@${at.host}/hook?token=${CANARY_IN_URL}&x=1`;
  const sent = await hooks(
    ['send', '--json', track(1), '--url', to, '--header', `Cookie: a=${CANARY}`, '-v'],
    { cwd, env },
  );
  expect(sent.code).toBe(0);
  expectNoCanary('send', sent.stdout + sent.stderr);
  expectNoCanary('listen', await stopped(listen));
  const captures = await writtenIn(join(cwd, 'captures'));
  expect(captures).toContain('"messageId\\":\\"m1\\"');
  expectNoCanary('a capture', captures);
  const again = await hooks(
    // The receiver repeats the secret in its response, which is quoted: a command masks the secrets that it sends.
    [
      ...argv`replay captures/*.json --exact --url http://127.0.0.1:${echo}/ --retry-for 0 -v`,
      '--header',
      `X-Api-Key: ${CANARY}`,
    ],
    { cwd, env },
  );
  expect(again.code).toBe(1);
  expectNoCanary('replay', again.stdout + again.stderr);
});
