// Needs redis-server and PostgreSQL.
import { Redis } from 'ioredis';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { argv } from '../end-to-end/argv.ts';
import { hooks, startHooks, type HooksResult } from '../end-to-end/hooks.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { commandsDuring } from '../stores/server/command-stats.ts';
import { errorOf } from './expect-rejected.ts';
import { hasServer, SERVER_KINDS, sql, startServer, type TestServer } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const CONFIG = { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: s\n' };
const MESSAGES = ['a', 'b', 'c', 'd'].map((event) => JSON.stringify({ type: 'track', event, userId: 'u' }));
/** Timeout in ms. Each test starts a server and several commands, which are slow on a busy machine. */
const LONGEST = 120_000;

describe.skipIf(!hasServer('redis'))('queue on Redis', { timeout: LONGEST }, () => {
  let running: TestServer;
  let admin: Redis;
  let run: (words: readonly string[], stdin?: string) => Promise<HooksResult>;

  beforeEach(async () => {
    running = await startServer('redis');
    admin = new Redis(running.url);
    onTestFinished(async () => {
      admin.disconnect();
      await running.remove();
    });
    const cwd = temporaryFolder(CONFIG);
    run = (words, stdin = '') => hooks([...words, '--store', running.url], { cwd, stdin });
  });

  const fill = async (): Promise<void> => {
    expect(await run(argv`replay - --queue -q`, MESSAGES.join('\n'))).toMatchObject({ code: 0 });
  };
  const listed = async (filter?: string): Promise<readonly string[]> => {
    const filtered = filter === undefined ? [] : ['--filter', filter];
    const { stdout } = await run(argv`queue list -o json ${filtered}`);
    return jsonLines(stdout).map(({ id }) => String(id));
  };

  const scans = async (): Promise<number> => {
    const commands = await commandsDuring(admin, async () => {
      expect(await run(['queue', 'stats'])).toMatchObject({ code: 0 });
    });
    return commands.get('scan') ?? 0;
  };

  it('lists, counts, drops and purges when the memory is full', async () => {
    await fill();
    expect(await run(argv`delete u1 --queue -q`)).toMatchObject({ code: 0 });
    await admin.config('SET', 'maxmemory', '1');
    expect(await run(['queue', 'stats'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Webhooks +5 /),
    });
    const ids = await listed('type=track');
    expect(ids).toHaveLength(4);
    expect(await run(['queue', 'show', ids[0] ?? ''])).toMatchObject({ code: 0 });
    expect(await run(['queue', 'drop', ...ids.slice(0, 2)])).toMatchObject({ code: 0, stderr: '' });
    const kept = await listed('type=track');
    expect(kept.toSorted()).toEqual(ids.slice(2).toSorted());
    const purge = argv`queue purge --yes --state pending retrying --filter type=track -o json`;
    expect(await run(purge)).toMatchObject({ code: 0, stdout: '{"dropped":2}\n' });
    // The full store never has room to record the dropped message in its deletion request.
    expect(await run(argv`queue purge --yes --state pending`)).toMatchObject({
      code: 0,
      stdout: 'dropped 1\n',
      stderr: expect.stringMatching(
        /^Dropped messages are missing from their deletion requests: .* is full\n$/,
      ),
    });
    await admin.config('SET', 'maxmemory', '0');
    expect(await listed()).toEqual([]);
    expect(await admin.keys('hooks:line:*')).toEqual([]);
  });

  it('shows everything to a user who may only read', async () => {
    await fill();
    const rights = ['on', '>reader', 'allkeys', '+@read', '+@connection', '+info', '+select'];
    await admin.acl('SETUSER', 'reader', ...rights);
    const url = running.url.replace(/\/\/.*@/, '//reader:reader@');
    await expectReadable(url);
  });

  it('is searched for lanes only if its registry was lost', async () => {
    await fill();
    expect(await scans()).toBe(0);
    await running.loseRegistry();
    expect(await scans()).toBeGreaterThan(0);
    expect(await scans()).toBe(0);
  });

  it('moves deliveries of lanes that are not registered', async () => {
    await fill();
    expect(await admin.del('hooks:series')).toBe(1);
    const moved = await run(argv`queue move --to ${temporaryFolder()}/to.db -o json`);
    expect(moved).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('{"waiting":4,"dead":0,"left":0'),
    });
    expect(await admin.keys('bull:hooks/*:d-*')).toEqual([]);
  });

  it('reads a deletion request once for all its dropped messages', async () => {
    const users = Array.from({ length: 4_000 }, (_, index) => `user-${index}-${'x'.repeat(60)}`);
    expect(await run(argv`delete - --queue -q`, users.join('\n'))).toMatchObject({ code: 0 });
    const ids = (await listed()).slice(0, 100);
    const [requestKey = ''] = await admin.keys('hooks:deletion-request:*');
    const requestBytes = await admin.strlen(requestKey);
    await admin.config('RESETSTAT');
    expect(await run(argv`queue drop ${ids} -q`)).toMatchObject({ code: 0 });
    const sentBytes = Number(/total_net_output_bytes:(\d+)/.exec(await admin.info('stats'))?.[1]);
    expect(sentBytes).toBeLessThan(2 * requestBytes);
  });
});

describe.skipIf(!hasServer('postgres'))('queue on PostgreSQL', { timeout: LONGEST }, () => {
  it('shows everything to a user who may only read', async () => {
    const running = await startServer('postgres');
    onTestFinished(() => running.remove());
    const cwd = temporaryFolder(CONFIG);
    const filling = hooks(argv`replay - --queue -q --store ${running.url}`, {
      cwd,
      stdin: MESSAGES.join('\n'),
    });
    expect(await filling).toMatchObject({ code: 0 });
    await sql(
      running.url,
      `CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA bullmq TO reader;
       GRANT SELECT ON ALL TABLES IN SCHEMA bullmq TO reader`,
    );
    const url = running.url.replace(/\/\/.*@/, '//reader@');
    await expectReadable(url);
  });
});

describe.each(SERVER_KINDS)('queue on %s after its registry was lost', { timeout: LONGEST }, (kind) => {
  it.skipIf(!hasServer(kind))('is found by every command, which prints a warning once', async () => {
    const running = await startServer(kind);
    onTestFinished(() => running.remove());
    const cwd = temporaryFolder(CONFIG);
    const run = (words: readonly string[], stdin = ''): Promise<HooksResult> =>
      hooks([...words, '--store', running.url], { cwd, stdin });
    expect(await run(argv`replay - --queue -q`, MESSAGES.join('\n'))).toMatchObject({ code: 0, stderr: '' });
    const registry = /^warning: The registry of .* is incomplete: 1 of the lanes found .*; now they are\n$/;
    const found = { code: 0, stderr: expect.stringMatching(registry) };
    await running.loseRegistry();
    const stats = await run(['queue', 'stats']);
    expect(stats).toMatchObject({ ...found, stdout: expect.stringMatching(/Webhooks +4 /) });
    expect(await run(['queue', 'stats'])).toEqual({ ...stats, stderr: '' });
    await running.loseRegistry();
    const listed = await run(argv`queue list -o json`);
    expect([listed, jsonLines(listed.stdout).length]).toMatchObject([found, 4]);
    await running.loseRegistry();
    expect(await run(argv`queue drop --all --state pending --yes`)).toMatchObject({
      ...found,
      stdout: 'dropped 4\n',
    });
  });
});

/** Expects a user who may only read to see the queue of four messages, and to be told that it cannot be changed. */
async function expectReadable(url: string): Promise<void> {
  const cwd = temporaryFolder(CONFIG);
  const read = (...words: readonly string[]): Promise<HooksResult> =>
    hooks(argv`queue ${words} --store ${url}`, { cwd });
  expect(await read('stats')).toMatchObject({ code: 0, stdout: expect.stringMatching(/Webhooks +4 /) });
  const { stdout } = await read('list', '-o', 'json');
  const ids = jsonLines(stdout).map(({ id }) => String(id));
  expect(ids).toHaveLength(4);
  expect(await read('show', ids[0] ?? '')).toMatchObject({ code: 0, stderr: '' });
  expect((await read('export')).stdout.trim().split('\n')).toHaveLength(4);
  expect(errorOf(await read('drop', ids[0] ?? ''))).toContain('does not allow');
}

describe.each(SERVER_KINDS)('worker over %s', { timeout: LONGEST }, (kind) => {
  it.skipIf(!hasServer(kind))('waits for a store that is down at the start, and prints a note', async () => {
    const running = await startServer(kind);
    onTestFinished(() => running.remove());
    await running.kill();
    const words = ['worker', '-o', 'json', '--store', running.url, '--allow-private'];
    const worker = startHooks(words, { cwd: temporaryFolder(CONFIG), timeoutMs: LONGEST });
    await until(() => worker.stderr().includes('cannot be reached'), 'the worker to say that it waits');
    expect(worker.stderr()).toMatch(/^The queue at .* cannot be reached: .*; waiting for it up to 60 s\n$/);
    await running.start();
    expect((await worker.lines.next()).value).toContain('ready');
    expect(await worker.stop('SIGTERM')).toMatchObject({ code: 0 });
  });
});

describe.each(SERVER_KINDS)('queue on %s, after a destination was renamed', { timeout: LONGEST }, (kind) => {
  if (!hasServer(kind)) return it.skip('needs the server');

  it('retries at the new destination, and exports the messages of the last 24 hours', async () => {
    const running = await startServer(kind);
    onTestFinished(() => running.remove());
    const cwd = temporaryFolder(CONFIG);
    const run = (words: readonly string[], stdin = ''): Promise<HooksResult> => hooks(words, { cwd, stdin });
    await run(argv`replay - --queue -q --store a.db`, MESSAGES.join('\n'));
    const { stdout: waiting } = await run(argv`queue export --deliveries --store a.db`);
    const dead = waiting
      .replaceAll('"destination":"Webhooks"', '"destination":"Old"')
      .replaceAll('"state":"pending"', '"state":"dead","reason":"cancelled"');
    const imported = await run(argv`queue import - -o json --store ${running.url}`, dead);
    expect(jsonLines(imported.stdout)).toMatchObject([{ waiting: 0, dead: 4 }]);
    const retry = argv`queue retry --all --to Webhooks --yes --store ${running.url}`;
    expect(await run(retry)).toMatchObject({ code: 0, stdout: 'retried 4\n' });
    expect(await run(retry)).toMatchObject({ code: 0, stdout: 'retried 0\n' });
    const { stdout: exported } = await run(argv`queue export --deliveries --store ${running.url}`);
    const lines = jsonLines(exported);
    expect(lines.filter(({ seen }) => seen !== undefined)).toHaveLength(4);
    expect(lines.filter(({ seen }) => seen === undefined)).toMatchObject(
      MESSAGES.map(() => ({ state: 'pending', destination: 'Webhooks' })),
    );
    const again = await run(argv`queue import - -o json --store b.db`, exported);
    expect(jsonLines(again.stdout)).toMatchObject([{ waiting: 4, dead: 0, seen: 4 }]);
  });
});
