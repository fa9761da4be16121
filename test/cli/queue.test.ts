import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { errorOf, expectRejected } from './expect-rejected.ts';
import { argv } from '../end-to-end/argv.ts';
import { systemClock } from '../../src/clock.ts';
import type { Io } from '../../src/cli/io.ts';
import { purgeDeliveries } from '../../src/cli/verbs/queue/remove-deliveries.ts';
import type { QueueOptions } from '../../src/cli/verbs/queue/run.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { DurableQueue } from '../../src/stores/opened-queue.ts';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { hooks, startHooks, type HooksResult, type RunningHooks } from './run-in-process.ts';
import { loadSqlite } from '../../src/stores/sqlite/file/sqlite.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SECRET = 'canary-secret';

describe('the durable queue on the command line', () => {
  let cwd: string;
  let env: Record<string, string>;

  beforeEach(async () => {
    cwd = temporaryFolder();
    env = { HOOKS_DATA_DIR: join(cwd, 'data') };
    await mkdir(join(cwd, 'data'), { mode: 0o700 });
    await receive('200');
  });

  /** Starts a receiver that responds as `script` says, and writes a config with its URL. */
  async function receive(script: string): Promise<void> {
    const { url } = await receiving({ secret: SECRET, respond: script });
    const config = { webhooks: [`${url}/hook`], sharedSecret: SECRET, delivery: { retryFor: '0' } };
    await writeFile(join(cwd, '.hooksrc.json'), JSON.stringify(config));
  }

  const run = (line: string, stdin = ''): Promise<HooksResult> => hooks(line.split(' '), { cwd, env, stdin });
  const json = async (line: string): Promise<Record<string, unknown>[]> => {
    return jsonLines((await run(`${line} -o json`)).stdout);
  };
  const total = async (): Promise<unknown> => (await json('queue stats')).at(-1)?.['total'];
  const openQueue = (): Promise<DurableQueue> =>
    openDurableQueue({ store: undefined, dataDir: join(cwd, 'data'), clock: systemClock });
  const startWorker = async (): Promise<RunningHooks> => {
    const worker = startHooks(argv`worker -o json --allow-private`, { cwd, env, timeoutMs: 60_000 });
    expect(await nextJson(worker)).toMatchObject({ ready: true });
    return worker;
  };
  /** Runs a worker until `count` deliveries are settled. Returns its result lines. */
  const work = async (count: number): Promise<Record<string, unknown>[]> => {
    const worker = await startWorker();
    const lines = [];
    while (lines.length < count) lines.push(await nextJson(worker));
    const { code, signal } = await worker.stop('SIGTERM');
    expect([code, signal]).toEqual([0, null]);
    return lines;
  };
  const send = (event: string): Promise<HooksResult> =>
    run(`send track --event ${event} --user-id u1 --queue -q`);
  /** Makes one dead letter, and returns its id. */
  const addDeadLetter = async (): Promise<string> => {
    await receive('400');
    await send('Signup');
    await work(1);
    await receive('200');
    return String((await json('queue list --filter event=Signup'))[0]?.['id']);
  };

  it('stores the message of send without delivering it', async () => {
    const [line] = await json('send track --event Signup --user-id u1 --queue');
    expect(line).toMatchObject({ type: 'track', outcome: 'queued' });
    expect(await total()).toMatchObject({ pending: 1 });
    expect((await stat(join(cwd, 'data/hooks.db'))).mode & 0o777).toBe(0o600);
  });

  it('says that no process delivers, until one does', async () => {
    const note = 'note: no process delivers from this queue now: start hooks worker or hooks serve\n';
    const line = 'send track --event A --user-id u1 --queue';
    expect((await run(line)).stderr).toBe(note);
    expect((await run('queue retry --now')).stderr).toBe(note);
    expect((await run(`${line} -q`)).stderr).toBe('');
    const worker = await startWorker();
    expect((await run(line)).stderr).toBe('');
    expect((await run('queue export --deliveries')).stderr).toMatch(/^note: a process delivers from this/);
    expect((await run('queue export --deliveries -q')).stderr).not.toContain('note:');
    expect((await worker.stop('SIGTERM')).code).toBe(0);
    expect((await run('queue export --deliveries')).stderr).not.toContain('note:');
  });

  it('stores the valid messages of replay, and the summary adds up', async () => {
    const stdin = '{"type":"track","event":"a","userId":"u"}\n{"type":"track"}\n';
    const { stdout, code } = await hooks(argv`replay - --queue -o json`, { cwd, env, stdin });
    expect(code).toBe(1);
    expect(jsonLines(stdout).at(-1)).toMatchObject({
      summary: { read: 2, queued: 1, invalid: 1, delivered: 0 },
    });
  });

  it('is delivered by a worker, which exits with 0 on SIGTERM', async () => {
    await Promise.all(['A', 'B', 'C'].map(send));
    const lines = await work(3);
    expect(lines.map(({ outcome, status }) => [outcome, status])).toEqual(
      [1, 2, 3].map(() => ['delivered', 200]),
    );
    expect(await total()).toMatchObject({ pending: 0, delivered: 3 });
  });

  it('is delivered by a worker that was started before the message was added', async () => {
    const worker = await startWorker();
    await send('Late');
    expect(await nextJson(worker)).toMatchObject({ outcome: 'delivered' });
    expect((await worker.stop('SIGINT')).code).toBe(0);
  });

  it.each([
    '--url http://a.example',
    '--secret s',
    '--retry-for 1m',
    '--loopback',
    '--dry-run',
    '--endpoint http://a',
  ])('excludes %s', async (flag) => {
    const error = errorOf(await run(`send track --event A --queue ${flag}`));
    expect(error).toMatch(/`--queue` and .* cannot be given together/);
  });

  it('is required by --store, and is stored where --store says', async () => {
    expect((await run('send track --event A --store sqlite:./x.db')).code).toBe(2);
    expect((await run('send track --event A --queue -q --store sqlite:./x.db')).code).toBe(0);
    expect(await total()).toMatchObject({ pending: 0 });
    expect((await json('queue stats --store sqlite:./x.db')).at(-1)).toMatchObject({ total: { pending: 1 } });
    const error = errorOf(await run('queue stats --store mysql://:canary@host'));
    expect(error).toContain('Expected `store` to be sqlite:FILE');
    expect(error).not.toContain('canary');
  });

  it('is not moved to an empty --to of an unset variable', async () => {
    await expectRejected(argv`queue move --to ${''}`, /--to[^]*got an empty text/, { cwd, env });
  });

  it.each([
    'stats',
    'list',
    'show ID',
    'export',
    'retry ID',
    'retry --all --yes',
    'drop ID',
    'purge --yes',
    'vacuum',
    'adopt',
    'move --to sqlite:typo/y.db',
  ])('is not created by `queue %s`', async (line) => {
    const { code, stdout, stderr } = await run(`queue ${line} --store sqlite:typo/x.db`);
    const file = join(cwd, 'typo/x.db');
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`There is no queue at ${file}`)]);
    await expect(stat(join(cwd, 'typo'))).rejects.toThrow('ENOENT');
  });

  it('is empty by default before it is created', async () => {
    expect(await run('queue purge --yes')).toMatchObject({ code: 0, stdout: 'dropped 0\n' });
    expect(await run('queue drop ID')).toMatchObject({ code: 2 });
  });

  it('is not stored in a folder named ~', async () => {
    for (const place of ['sqlite:~/x.db', '~/x.db', '~me/x.db']) {
      const error = errorOf(await run(`queue purge --yes --store ${place}`));
      expect(error).toContain('Expected `store` to be a full path');
    }
  });

  it('needs a destination in the config to add or deliver messages', async () => {
    await writeFile(join(cwd, '.hooksrc.json'), '{}');
    for (const line of ['worker', 'send track --event A --queue']) {
      expect(errorOf(await run(line))).toContain('destination to');
    }
  });

  it('shows dead letters with every attempt and the body, without secrets', async () => {
    const id = await addDeadLetter();
    const [brief] = await json('queue list --state dead');
    expect(brief).toMatchObject({
      id,
      state: 'dead',
      reason: 'rejected',
      rounds: 1,
      lastAttempt: { status: 400, error: 'http-4xx' },
    });
    const [full] = await json(`queue show ${id}`);
    expect(full).toMatchObject({ id, attempts: [{ status: 400, round: 1 }] });
    expect(JSON.parse(String(full?.['body']))).toMatchObject({ type: 'track', event: 'Signup' });
    const { stdout } = await run(`queue show ${id}`);
    expect(stdout).toMatch(/dead \(rejected\).*\n.*added/);
    expect(stdout).not.toContain(SECRET);
  });

  it('delivers a dead letter again after a retry', async () => {
    const id = await addDeadLetter();
    expect(await json(`queue retry ${id} ${id}`)).toEqual([{ id, result: 'retried' }]);
    expect(await work(1)).toMatchObject([{ id, outcome: 'delivered' }]);
    const { code, stderr } = await run(`queue retry ${id} nobody`);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/it is already delivered[^]*there is no such delivery/),
    ]);
  });

  it('lists what is wrong with a message that was never sent, without a destination that is unknown', async () => {
    const durable = await openQueue();
    const dead = { state: 'dead', createdAt: 0, detail: 'expected `event`\u001b[2J' } as const;
    await durable.queue.add([
      newDelivery('bad', { ...dead, reason: 'invalid', destination: '' }),
      newDelivery('odd', { ...dead, reason: 'unplanned' }),
    ]);
    await durable.close();
    const piped = (await run('queue list')).stdout;
    expect(piped).toMatch(/^dead \(invalid\) .* {2}web {2}1970-\S+ {2}expected `event`\\u001b\[2J$/m);
    expect(piped).toMatch(/^dead \(unplanned\) .* {2}web → Webhooks {2}1970-\S+ {2}expected `event`/m);
    expect((await run('queue stats')).stdout).toMatch(/^web {2}/m);
    const { stdout } = await hooks(['queue', 'list'], { cwd, env, terminalColumns: 40 });
    expect(stdout).toMatch(/^dead .*invalid\n {2}why: expected `event`\\u001b\[2J$/m);
  });

  it.each([
    ['reason=exausted', /one of rejected, exhausted, .* got exausted[^]*did you mean exhausted\?/],
    ['state!=ded', /one of pending, .* got ded[^]*did you mean dead\?/],
  ])('rejects --filter %s with the name that is probably meant', async (filter, message) => {
    expect(errorOf(await run(`queue list --filter ${filter}`))).toMatch(message);
    expect(await run('queue list --filter reason=,event=x')).toMatchObject({ code: 0 });
  });

  it('retries all deliveries that a filter selects, except invalid messages', async () => {
    const durable = await openQueue();
    await durable.queue.add([newDelivery('bad', { state: 'dead', reason: 'invalid', detail: 'no `event`' })]);
    await durable.close();
    const id = await addDeadLetter();
    expect(await json('queue retry --all --yes --filter event=Other')).toEqual([{ retried: 0 }]);
    expect(await run('queue retry --all --yes -o json')).toMatchObject({
      code: 1,
      stdout: '{"retried":1,"invalid":1}\n',
      stderr: expect.stringContaining(
        'unchanged: 1 dead letter: the message is invalid, so no attempt can succeed: correct it and send it again; --filter reason!=invalid selects the others\n',
      ),
    });
    expect((await run('queue retry --all --yes --filter reason!=invalid')).code).toBe(0);
    expect(
      (await json('queue list --filter event=Signup')).map((each) => [each['id'], each['state']]),
    ).toEqual([[id, 'pending']]);
    const { code, stderr } = await run('queue retry bad');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/bad: the message is invalid/)]);
    expect((await run('queue retry')).code).toBe(2);
  });

  it('counts selected deliveries like all deliveries', async () => {
    await addDeadLetter();
    await send('Waits');
    await send('Waits');
    expect(await json('queue stats --since 1h')).toEqual(await json('queue stats'));
    const never = errorOf(await run('queue list --since 2026-02-30T00:00:00Z'));
    expect(never).toContain('Expected `--since` to be a date and time that exists, got 2026-02-30T00:00:00Z');
    expect((await run('queue list --since yesterday')).stderr).toContain('to be an age or a timestamp');
    expect((await json('queue stats --filter event=Waits')).at(-1)).toMatchObject({
      total: { pending: 2, dead: 0 },
    });
    const { stderr } = await run('queue stats --fliter event=Waits extra');
    expect(stderr).toContain('did you mean --filter?');
    const surplus = await run('queue stats extra');
    expect(surplus.stderr).toContain('run hooks queue stats --help to see its flags');
  });

  it('selects the states that a filter chooses', async () => {
    const id = await addDeadLetter();
    await receive('200');
    await send('Goes');
    await work(1);
    await send('Waits');
    const events = async (line: string): Promise<unknown[]> =>
      (await json(line)).map((body) => body['event'] ?? body['dropped']);
    expect(await events('queue export --filter state=delivered')).toEqual(['Goes']);
    expect(await json('queue list --filter state=delivered,event=Other')).toEqual([]);
    expect(await events('queue export --filter state!=dead')).toEqual(['Waits']);
    expect(await events('queue export --filter state=delivered --state dead')).toEqual([]);
    expect(await events('queue purge --yes --filter state!=dead')).toEqual([0]);
    expect(await events('queue purge --yes --filter state=delivered')).toEqual([1]);
    expect(await events('queue export --state delivered')).toEqual([]);
    expect(await json('queue list --filter state=dead')).toMatchObject([{ id }]);
  });

  it('rejects an invalid webhook with its destination', async () => {
    const headers = { Host: 'a' };
    const destinations = {
      Ok: { webhooks: ['http://a'] },
      Bad: { webhooks: [{ url: 'http://b', headers }] },
    };
    await writeFile(join(cwd, '.hooksrc.json'), JSON.stringify({ sources: { web: { destinations } } }));
    expect(errorOf(await run('worker'))).toContain(
      'Header `Host` cannot be set: it follows from the URL (at `sources.web.destinations.Bad.webhooks[0].headers.Host`)',
    );
  });

  it('exports lines that replay reads, and removes deliveries with drop and purge', async () => {
    await addDeadLetter();
    await send('Waits');
    const { stdout } = await run('queue export --state dead');
    const replayed = await hooks(argv`replay - --dry-run -o json`, { cwd, env, stdin: stdout });
    expect([replayed.code, replayed.stdout]).toEqual([0, expect.stringContaining('Signup')]);
    expect(await json('queue purge --yes --newer-than 1h')).toEqual([{ dropped: 1 }]);
    const [waiting, ...others] = await json('queue list');
    expect([waiting?.['state'], others]).toEqual(['pending', []]);
    const id = String(waiting?.['id']);
    errorOf(await run('queue show nobody'));
    expect(errorOf(await run('queue drop nobody'))).toContain('nobody: there is no such delivery');
    expect(await run(`queue drop ${id} ${id}`)).toMatchObject({ code: 0, stdout: `dropped ${id}\n` });
    expect(await json('queue list')).toEqual([]);
  });

  it('selects deliveries by the time at which they were added', async () => {
    await addDeadLetter();
    await send('Waits');
    const count = async (flags: string): Promise<number> => (await json(`queue list ${flags}`)).length;
    expect(await count('--older-than 1h')).toBe(0);
    expect(await count('--newer-than 1h')).toBe(2);
    expect(await count('--older-than 0s')).toBe(2);
    expect(await count('--newer-than 1h --older-than 2020-01-01T00:00:00Z')).toBe(0);
    expect(await json('queue stats --older-than 1h')).toMatchObject([{ total: { pending: 0, dead: 0 } }]);
    expect(await json('queue purge --older-than 30d --yes')).toEqual([{ dropped: 0 }]);
    expect(await json('queue drop --all --older-than 30d --yes')).toEqual([{ dropped: 0 }]);
    expect(await json('queue purge --older-than 0s --dry-run')).toEqual([{ dropped: 0, selected: 1 }]);
    expect(await json('queue purge --older-than 0s --yes')).toEqual([{ dropped: 1 }]);
    expect(await count('--newer-than 1h')).toBe(1);
    const error = errorOf(await run('queue purge --since 30d --yes'));
    expect(error).toContain('`hooks queue purge` has no `--since`');
  });

  it.each(['purge', 'drop --all', 'retry --all'])(
    'is not changed by `queue %s` without a terminal and without --yes',
    async (line) => {
      await addDeadLetter();
      const { code, stdout, stderr } = await run(`queue ${line}`);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('add --yes to change them, or --dry-run to count them');
      expect(await json('queue list --state dead')).toHaveLength(1);
    },
  );

  it('gives the space of purged deliveries back, and prints the size of the file', async () => {
    const properties = { text: 'x'.repeat(10_000) };
    const lines = Array.from({ length: 300 }, (_, index) =>
      JSON.stringify({ type: 'track', event: 'e', userId: `u${index}`, properties }),
    );
    expect((await run('replay - --queue -q', lines.join('\n'))).code).toBe(0);
    const file = join(cwd, 'data/hooks.db');
    const { size } = await stat(file);
    expect(await run('queue purge --yes --state pending')).toMatchObject({
      code: 0,
      stdout: 'dropped 300\n',
    });
    expect((await stat(file)).size).toBeLessThan(size / 2);
    const [line] = await json('queue vacuum');
    expect(line).toEqual({ store: file, bytesBefore: expect.any(Number), bytesAfter: expect.any(Number) });
    expect(await run('queue vacuum --store redis://127.0.0.1:1/0')).toMatchObject({ code: 2 });
  });

  it('exports and shows a body that is not JSON without loss', async () => {
    const bodies = [{ bodyBase64: '//4A' }, { body: '' }, { body: '{"a":1,"a":2}' }];
    const captures = bodies.map((body) => ({ capture: 1, method: 'POST', url: '/', headers: [], ...body }));
    const stdin = captures.map((capture) => `${JSON.stringify(capture)}\n`).join('');
    expect((await hooks(argv`replay - --exact --queue`, { cwd, env, stdin })).code).toBe(0);
    const { stdout } = await run('queue export');
    expect(jsonLines(stdout)).toEqual(captures);
    const ids = (await json('queue list')).map(({ id }) => String(id));
    const shown = await Promise.all(ids.map(async (id) => (await json(`queue show ${id}`))[0]));
    expect(shown).toEqual(bodies.map((body) => expect.objectContaining(body) as object));
  });

  it('does not export or retry a damaged body, and shows the rest of it as damaged', async () => {
    await send('Rots');
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(join(cwd, 'data', 'hooks.db'), { timeout: 5_000 });
    database.exec(`UPDATE deliveries SET body = CAST(replace(body, 'Rots', 'Lies') AS BLOB)`);
    database.close();
    expect(await run('queue export')).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringMatching(/^left out: the body of \S+ is damaged \(hooks queue show/) as string,
    });
    const [{ id, state, reason } = {}] = await json('queue list');
    expect([state, reason]).toEqual(['dead', 'damaged']);
    expect(await run(`queue retry ${String(id)}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the stored body is damaged') as string,
    });
    const [shown] = await json(`queue show ${String(id)}`);
    expect(shown).toMatchObject({ damaged: { body: expect.stringContaining('Lies') as string } });
    expect(shown).not.toHaveProperty('body');
  });

  it('escapes control characters in an export without changing the bytes of the message', async () => {
    const unsafe = '\u009b2J \u202e \u2066 \u061c \u2028 \u007f';
    const body = JSON.stringify({ version: 1, type: 'track', userId: 'u', event: unsafe, properties: {} });
    const asWritten = `{"event": ${JSON.stringify(unsafe)}}`;
    const capture = { capture: 1, method: 'POST', url: '/', headers: [] };
    const captures = [body, asWritten].map((each) => JSON.stringify({ ...capture, body: each }));
    const stdin = `${captures.join('\n')}\n`;
    expect((await hooks(['replay', '-', '--exact', '--queue'], { cwd, env, stdin })).code).toBe(0);
    const { stdout } = await run('queue export');
    expect(stdout.replaceAll('\n', '')).toMatch(/^[ -~]*$/);
    const [first = '', second = ''] = stdout.split('\n');
    expect(JSON.stringify(JSON.parse(first))).toBe(body);
    expect(JSON.parse(second)).toMatchObject({ capture: 1, body: asWritten });
  });

  it('marks the message of a deletion request as failed when dropped', async () => {
    const [{ deletion } = {}] = await json('delete u1 --queue');
    const [{ id } = {}] = await json('queue list');
    expect((await run(`queue drop ${String(id)}`)).code).toBe(0);
    const durable = await openQueue();
    onTestFinished(() => durable.close());
    expect(await durable.deletions.get(String(deletion))).toMatchObject({
      sources: { default: { deliveries: 1, delivered: 0, failed: 1 } },
    });
  });

  it('prints a note about audiences that stay when a queue moves', async () => {
    await writeFile(join(cwd, 'members.txt'), 'a\nb\n');
    await run('audience sync VIP members.txt -q --store sqlite:./own.db');
    const said = `1 audience or trait stays in ${join(cwd, 'own.db')}: sync`;
    expect(await run('queue move --store sqlite:./own.db --to sqlite:./other.db')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(said),
    });
    expect((await run('queue move --store sqlite:./other.db --to sqlite:./own.db')).stderr).toBe('');
  });
});

describe('a queue command interrupted by Ctrl-C', () => {
  it('exits with 130', async () => {
    const env = { HOOKS_DATA_DIR: temporaryFolder() };
    const io = { env, cwd: env.HOOKS_DATA_DIR, signal: AbortSignal.abort('SIGINT'), note() {}, out() {} };
    const options = { output: 'json', config: false, yes: true } as unknown as QueueOptions; // commander's options without flags
    expect(await purgeDeliveries(options, io as unknown as Io)).toBe(130); // purging uses no other field
  });
});
