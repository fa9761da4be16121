import { EventEmitter, once } from 'node:events';
import { appendFile, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import {
  headerOf,
  jsonLines,
  receiving,
  SECRET,
  summaryOf,
  track,
  tracks,
  type Counts,
} from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const COUNT = 300;
const ALL = Array.from({ length: COUNT }, (_, index) => `m${index}`);

/** Replays until the receiver has `after` messages, then sends the signal. */
async function interrupted(after: number, signal: NodeJS.Signals) {
  const cwd = temporaryFolder({ 'day.ndjson': tracks(COUNT) });
  const dataDir = join(cwd, 'data');
  const arrivals = new EventEmitter();
  const reached = once(arrivals, 'enough');
  let count = 0;
  const to = await receiving({
    respond: '200@delay=2ms',
    onRequest: () => {
      if (++count === after) arrivals.emit('enough');
    },
  });
  const args = ['replay', 'day.ndjson', '--url', to.url, '--secret', SECRET, '-o', 'json'];
  const options = { cwd, env: { HOOKS_DATA_DIR: dataDir } };
  const running = startHooks(args, options);
  await Promise.race([reached, running.exited]);
  const result = await running.stop(signal);
  // Attempts in flight have a second to finish, which is too short only if this machine was asleep.
  const cut = jsonLines(result.stdout).filter(
    ({ outcome, error }) => outcome === 'unsent' && error === 'aborted',
  );
  return { to, args, options, dataDir, result, cut: cut.map(({ messageId }) => String(messageId)) };
}

describe.concurrent('an interrupted replay', () => {
  it('reports what was delivered, and delivers exactly the rest with --resume', async () => {
    const { to, args, options, dataDir, result, cut } = await interrupted(50, 'SIGINT');
    expect(result.code).toBe(130);
    const first = summaryOf(result.stdout);
    expect(cut.length).toBeLessThanOrEqual(1);
    expect(first.delivered + cut.length).toBe(to.requests.length);
    expect(first.unsent).toBeGreaterThan(0);
    const [checkpoint = ''] = await readdir(join(dataDir, 'replays'));
    expect(await readFile(join(dataDir, 'replays', checkpoint), 'utf8')).not.toContain(SECRET);

    const second = await hooks([...args, '--resume'], options);
    expect(second.code).toBe(0);
    expect(summaryOf(second.stdout)).toMatchObject({
      read: COUNT - first.delivered,
      delivered: COUNT - first.delivered,
      skipped: first.delivered,
    });
    expect(to.field('messageId')).toEqual(ALL.flatMap((id) => (cut.includes(id) ? [id, id] : [id])));

    const arrived = to.requests.length;
    const third = await hooks([...args, '--resume'], options);
    expect(third.code).toBe(0);
    expect(third.stderr).toBe(
      'nothing to resume: this replay is finished, so nothing is sent; --again sends it again\n',
    );
    expect(summaryOf(third.stdout)).toMatchObject({
      read: 0,
      skipped: COUNT,
      resumed: { finished: true, delivered: COUNT, queued: 0 },
    });
    expect(to.requests).toHaveLength(arrived);

    const fourth = await hooks([...args, '--again'], options);
    expect([fourth.code, fourth.stderr]).toEqual([0, '']);
    expect(summaryOf(fourth.stdout)).toMatchObject({ read: COUNT, delivered: COUNT, skipped: 0 });
  });

  it('starts from the beginning without --resume', async () => {
    const { to, args, options, result, cut } = await interrupted(20, 'SIGTERM');
    expect(result.code).toBe(143);
    const { delivered } = summaryOf(result.stdout);
    const again = await hooks(args, options);
    expect(summaryOf(again.stdout)).toMatchObject({ read: COUNT, delivered: COUNT, skipped: 0 });
    expect(to.requests).toHaveLength(delivered + cut.length + COUNT);
  });

  it('ends immediately while it waits for a dead receiver after the end of its input', async () => {
    const cwd = temporaryFolder({ 'day.ndjson': tracks(3) });
    const args = ['replay', 'day.ndjson', '--url', 'http://127.0.0.1:9', '--order', 'none', '-o', 'json'];
    const running = startHooks(args, { cwd });
    await until(() => running.stderr().includes('retry:'), 'the first retry');
    const { code, stdout } = await running.stop('SIGINT');
    expect(code).toBe(130);
    expect(summaryOf(stdout)).toMatchObject({ read: 3, unsent: 3 });
  });
});

it('an interrupted replay sends no message that --speed delays, not even the last', async () => {
  const to = await receiving();
  const days = [1, 2].map((day) => track(day, { timestamp: `2026-11-0${day}T00:00:00.000Z` }));
  // Both lines are read together, so that the second waits when the first is sent.
  const cwd = temporaryFolder({ 'days.ndjson': `${days.join('\n')}\n` });
  const running = startHooks(['replay', 'days.ndjson', '--speed', '1x', '--url', to.url, '-o', 'json'], {
    cwd,
  });
  await running.lines.next(); // the line of the first message
  const { code, stdout } = await running.stop('SIGINT');
  expect(code).toBe(130);
  expect(summaryOf(stdout)).toMatchObject({ delivered: 1, unsent: 1 });
  expect(to.requests).toHaveLength(1);
});

const MIXED = [
  track(0),
  track(1),
  'nonsense',
  track(3, { integrations: { All: false } }),
  ...Array.from({ length: 40 }, (_, index) => track(4 + index)),
].join('\n');

type SavedReport = Readonly<Record<'results', readonly Readonly<Record<'outcome' | 'origin', string>>[]>>;

/** Interrupts a replay after it delivered m0, and met a rejected, a malformed and a filtered message. */
async function begun(flags: readonly string[]) {
  const cwd = temporaryFolder({ 'day.ndjson': MIXED });
  const to = await receiving({ respond: '200,404,200@delay=10ms' });
  const replay = ['replay', 'day.ndjson', '--url', to.url, '-o', 'json'];
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  const running = startHooks([...replay, ...flags], options);
  await until(() => to.requests.length > 10, 'some messages');
  expect((await running.stop('SIGINT')).code).toBe(130);
  const resume = (...more: readonly string[]) => hooks([...replay, '--resume', ...more], options);
  const read = (name: string): Promise<string> => readFile(join(cwd, name), 'utf8');
  return { cwd, resume, read, to };
}

describe.concurrent('a resumed replay reports the whole replay:', () => {
  const WHOLE = { failed: 1, invalid: 1, filtered: 1 };

  it('summary, result lines, report and exit code include each earlier failure once', async () => {
    const { resume, read, to } = await begun([]);
    for (const report of ['r.json', 'r.xml']) {
      // The second time the replay is finished, with the same result.
      const { code, stdout } = await resume('--report', report);
      expect(code).toBe(1);
      const summary = summaryOf(stdout);
      expect(summary).toMatchObject(WHOLE);
      expect(summary.read + summary.skipped).toBe(44);
      const lines = jsonLines(stdout);
      expect(lines.find(({ outcome }) => outcome === 'failed')).toMatchObject({
        messageId: 'm1',
        status: 404,
        error: 'http-4xx',
        attempts: [{ status: 404 }],
        origin: 'day.ndjson:2',
      });
      expect(lines.find(({ outcome }) => outcome === 'invalid')).toMatchObject({ at: 'day.ndjson:3:1' });
    }
    expect(to.requests).toHaveLength(42);
    const { results } = JSON.parse(await read('r.json')) as SavedReport;
    expect(new Set(results.map(({ origin }) => origin)).size).toBe(44);
    const reported = results.filter(({ outcome }) => outcome !== 'delivered');
    // The rejection arrives over a socket, so its position is not fixed.
    expect(reported.map(({ outcome, origin }) => `${outcome} ${origin}`).toSorted()).toEqual([
      'failed day.ndjson:2',
      'filtered day.ndjson:4',
      'invalid day.ndjson:3',
    ]);
    const xml = await read('r.xml');
    expect(xml).toContain('<testsuites name="hooks" tests="44" failures="1" errors="1" skipped="1"');
    expect(xml).toMatch(/<failure message="Delivery rejected: 404 Not Found from /);
    expect(xml).toContain('<testcase classname="day.ndjson" name="track &quot;Signup&quot; (line 1)"');
  });

  it('the file of --failed has each failure once, also if only the second replay writes it', async () => {
    const { resume, read } = await begun(['--failed', 'f.ndjson']);
    for (const name of ['f.ndjson', 'other.ndjson']) {
      expect((await resume('--failed', name)).code).toBe(1);
      const lines = (await read(name)).trimEnd().split('\n');
      expect(lines.toSorted()).toEqual(['nonsense', track(1)]);
    }
  });

  it('the file of --failed keeps lines that a person has added, and loses those that are sent', async () => {
    const { cwd, resume, read } = await begun(['--failed', 'f.ndjson']);
    const unsent = (await read('f.ndjson')).trimEnd().split('\n').slice(2);
    expect(unsent.length).toBeGreaterThan(0);
    const added = [track('added'), ' # a note', track('added'), track('ü')];
    await appendFile(join(cwd, 'f.ndjson'), added.join('\n'));
    expect((await resume('--failed', 'f.ndjson')).code).toBe(1);
    const lines = (await read('f.ndjson')).trimEnd().split('\n');
    expect(lines.toSorted()).toEqual(['nonsense', track(1), ...added].toSorted());
  });

  it('a damaged journal is reported before anything is written', async () => {
    const { cwd, resume, read, to } = await begun(['--failed', 'f.ndjson']);
    const folder = join(cwd, 'data', 'replays');
    const journal = join(folder, (await readdir(folder)).find((name) => name.endsWith('.results')) ?? '');
    const whole = await readFile(journal, 'utf8');
    const [before, came] = [await read('f.ndjson'), to.requests.length];
    for (const damaged of [
      whole.replace('{', '#'),
      whole.slice(0, -9),
      whole.replace(/\n(?=.)/, 'x'),
      undefined,
    ]) {
      await (damaged === undefined ? rm(journal) : writeFile(journal, damaged));
      const { code, stderr } = await resume('--failed', 'f.ndjson');
      expect([code, stderr]).toEqual([2, expect.stringContaining('not a readable journal of results')]);
    }
    expect([await read('f.ndjson'), to.requests.length]).toEqual([before, came]);
    expect((await readdir(cwd)).toSorted()).toEqual(['data', 'day.ndjson', 'f.ndjson']);
  });

  it('text output includes each earlier failure once', async () => {
    const { resume } = await begun([]);
    const { stdout } = await resume('-o', 'text');
    expect(stdout.match(/^✗ failed {4}track .* 404 .* day\.ndjson:2 /gm)).toHaveLength(1);
    expect(stdout.match(/^✗ invalid {3}day\.ndjson:3:1: /gm)).toHaveLength(1);
    expect(stdout).toMatch(/^failed +1\nfiltered +1\ninvalid +1\nskipped +\d+ \(\d+ delivered before\)$/m);
  });
});

it('a replay with --limit is finished when it has sent that number', async () => {
  const to = await receiving();
  const cwd = temporaryFolder({ 'day.ndjson': tracks(5) });
  const args = ['replay', 'day.ndjson', '--url', to.url, '--limit', '3', '-o', 'json'];
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  expect((await hooks(args, options)).code).toBe(0);
  const { code, stdout, stderr } = await hooks([...args, '--resume'], options);
  expect([code, to.requests.length]).toEqual([0, 3]);
  expect(stderr).toContain('this replay is finished');
  expect(summaryOf(stdout)).toMatchObject({ read: 0, skipped: 3, resumed: { finished: true, delivered: 3 } });
});

it('a resumed replay repeats the id of a message that has none, and a replay from the beginning makes another', async () => {
  const came = new EventEmitter();
  const first = once(came, 'request');
  const onRequest = (): void => void came.emit('request');
  const to = await receiving({ respond: 'timeout,200', onRequest });
  const { messageId: _, ...message } = JSON.parse(track(1)) as { messageId: string };
  const cwd = temporaryFolder({ 'day.ndjson': JSON.stringify(message) });
  const args = ['replay', 'day.ndjson', '--url', to.url, '-o', 'json'];
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  const running = startHooks(args, options);
  await Promise.race([first, running.exited]);
  expect((await running.stop('SIGINT')).code).toBe(130);
  expect((await hooks([...args, '--resume'], options)).code).toBe(0);
  expect((await hooks([...args, '--again'], options)).code).toBe(0);
  const keys = to.requests.map((request) => headerOf(request, 'idempotency-key'));
  expect(keys).toEqual([expect.stringMatching(/./), keys[0], expect.not.stringMatching(`^${keys[0]}$`)]);
  expect(new Set(to.bodies())).toEqual(new Set([to.bodies()[0]]));
});

it('a replay to another queue starts from the beginning', async () => {
  const cwd = temporaryFolder({
    'day.ndjson': tracks(COUNT),
    '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9]\n',
  });
  const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
  const replay = ['replay', 'day.ndjson', '--queue', '--rate', '100/s', '-o', 'json', '--store'];
  const running = startHooks([...replay, 'sqlite:one.db'], options);
  await running.lines.next();
  expect((await running.stop('SIGINT')).code).toBe(130);
  const { stdout, stderr } = await hooks([...replay, 'sqlite:two.db', '--resume'], options);
  expect(stderr).toContain('nothing to resume');
  expect(summaryOf(stdout)).toMatchObject({ queued: COUNT, skipped: 0 });
});

it('a replay of standard input cannot be resumed', async () => {
  await expectRejected(
    ['replay', '-', '--resume', '--loopback'],
    'error: <stdin>: cannot be resumed: this input can be read only once\nhint:  write it to a file first, and replay that\n',
    { stdin: tracks(1) },
  );
});

describe.concurrent('an interrupted replay of an input that can be read only once', () => {
  const LINES = 1_500;
  const stdin = tracks(LINES);

  /** Interrupts a replay of standard input. `resume` replays it again from an offset. */
  async function interruptedPipe(flags: readonly string[]) {
    const cwd = temporaryFolder();
    const [slow, fast] = await Promise.all([receiving({ respond: '200@delay=2ms' }), receiving()]);
    const args = ['replay', '-', '--order', 'none', ...flags, '-o', 'json', '--url'];
    const running = startHooks([...args, slow.url], { cwd, stdin });
    await until(() => slow.requests.length > 20, 'some messages');
    const { code, stdout, stderr } = await running.stop('SIGINT');
    expect(code).toBe(130);
    const resume = (offset: number) => hooks([...args, fast.url, '--offset', String(offset)], { cwd, stdin });
    const came = (): unknown[] => [...slow.field('messageId'), ...fast.field('messageId')];
    return { cwd, fast, came, stdout, stderr, summary: summaryOf(stdout), resume };
  }

  it('reports how far it was read: that offset and the file of --failed send each message once', async () => {
    const { cwd, fast, came, stdout, stderr, summary, resume } = await interruptedPipe([
      '--failed',
      'f.ndjson',
    ]);
    expect(summary).toMatchObject({ unreadFrom: summary.read });
    expect([summary.read < LINES, summary.unsent > 0, stderr]).toEqual([true, true, '']);
    expect((await hooks(['replay', 'f.ndjson', '--url', fast.url], { cwd })).code).toBe(0);
    const rest = summaryOf((await resume(summary.read)).stdout);
    expect(rest).toMatchObject({ delivered: LINES - summary.read, skipped: summary.read });
    expect(rest).not.toHaveProperty('unreadFrom');
    const cut = jsonLines(stdout).filter(({ error }) => error === 'aborted');
    expect([new Set(came()).size, came().length]).toEqual([LINES, LINES + cut.length]);
  });

  it('reports the offset of the first unsent message, for a replay without --failed', async () => {
    const { came, summary, resume } = await interruptedPipe([]);
    const { unsentFrom } = summary as Counts & { unsentFrom?: number };
    expect(unsentFrom).toBeLessThan(summary.read);
    await resume(Number(unsentFrom));
    expect(new Set(came()).size).toBe(LINES);
  });

  it('counts from --offset after --fail-fast, and prints the next offset as text', async () => {
    const to = await receiving({ respond: '200x3,404' });
    const flags = ['--fail-fast', '--offset', '10', '--filter', 'event=Signup'];
    const { stdout } = await hooks(['replay', '-', '--url', to.url, ...flags], {
      stdin,
      cwd: temporaryFolder(),
    });
    const [, read = ''] = /^read +([\d,]+)$/m.exec(stdout) ?? [];
    const from = Number(read.replace(',', '')) + 10;
    expect(stdout).toContain(`\nunread     after message ${from}: --offset ${from} continues (`);
  });
});
