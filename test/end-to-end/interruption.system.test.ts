// Kills processes: send and replay, by signals of a terminal and by SIGKILL. resume.test.ts interrupts in one process.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answers, neverAnswers, type HostileReceiver } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import {
  messageIdsAt,
  messagesFile,
  replay,
  replayed,
  SEND,
  type Replayed,
  type ResultLine,
  type Summary,
} from './delivering.ts';
import { startHooks, type RunningHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { slowReceiver } from './slow-receiver.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const CONCURRENCY = 8;

describe('an interrupted replay', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)(
    'ends after %s with a summary that matches the requests of its receiver',
    async (signal, code) => {
      const hostile = await started(slowReceiver(30));
      const folder = temporaryFolder();
      const files = ['--report', join(folder, 'r.json'), '--failed', join(folder, 'f.ndjson')];
      const running = await replayUntil(20, hostile, files);
      const result = replayed(await running.stop(signal));

      expect(result.code).toBe(code);
      const { summary, lines } = result;
      expect(summary.read).toBe(total(summary));
      expect(lines).toHaveLength(summary.read);
      const delivered = idsOf(lines, 'delivered');
      expect(delivered).toHaveLength(summary.delivered);
      expect(summary.delivered).toBeGreaterThanOrEqual(20);
      expect(summary.unsent).toBe(summary.read - summary.delivered);
      // Attempts in flight have a second to finish, which is too short only if this machine was asleep.
      const cut = lines.filter(({ outcome, error }) => outcome === 'unsent' && error === 'aborted');
      expect(cut.length).toBeLessThanOrEqual(CONCURRENCY);
      const seen = messageIdsAt(hostile);
      expect(new Set(seen)).toEqual(new Set([...delivered, ...cut.map(({ messageId }) => messageId)]));
      expect(seen).toHaveLength(summary.delivered + cut.length);
      expect(result.stderr).toMatch(/^interrupted; .*--resume.*\n$/);

      const failed = (await readFile(join(folder, 'f.ndjson'), 'utf8')).trimEnd().split('\n');
      expect(failed).toHaveLength(summary.unsent);
      const report = JSON.parse(await readFile(join(folder, 'r.json'), 'utf8')) as { summary: Summary };
      expect(report.summary).toMatchObject({ read: summary.read, delivered: summary.delivered });
    },
  );

  it('prints counts of unsent messages, and no line for each of them', async () => {
    const hostile = await started(slowReceiver(30));
    const running = await replayUntil(20, hostile, ['-o', 'text']);
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    const [, read, delivered, unsent] =
      /^read +([\d,]+)\ndelivered +(\d+)\nunsent +([\d,]+)$/m
        .exec(stdout)
        ?.map((text) => Number(text.replace(',', ''))) ?? [];
    expect(read).toBe((delivered ?? 0) + (unsent ?? 0));
    expect(stdout.split('\n').length).toBeLessThan((delivered ?? 0) + CONCURRENCY + 10);
  });

  it('aborts attempts without a response, and does not report them as retries', async () => {
    const hostile = await started(neverAnswers());
    const running = startHooks(await replayArgs(hostile.url, ['--timeout', '30s']));
    await reached(running, () => hostile.requests.length >= CONCURRENCY);
    const { code, summary, lines, stderr } = replayed(await running.stop());
    expect([code, summary.delivered, summary.unsent]).toEqual([130, 0, summary.read]);
    expect(lines.filter(({ error }) => error === 'aborted')).toHaveLength(CONCURRENCY);
    expect(
      lines.filter(({ error, outcome }) => outcome !== 'unsent' || !['aborted', undefined].includes(error)),
    ).toEqual([]);
    expect(stderr).not.toMatch(/retry|failed/);
  });

  it('waits for the response of a tracking API to the batch in flight', async () => {
    const hostile = await started(slowReceiver(40));
    const to = ['--endpoint', hostile.url, '--write-key', 'k', '-o', 'json'];
    const running = startHooks(['replay', await messagesFile(COUNT), ...to]);
    await running.lines.next();
    const { code, summary, lines } = replayed(await running.stop());
    expect(code).toBe(130);
    expect(summary.read).toBe(summary.delivered + summary.unsent);
    const batches = hostile.requests.map(({ body }) => JSON.parse(body.toString()) as { batch: unknown[] });
    const inBatches = batches.reduce((sum, { batch }) => sum + batch.length, 0);
    const cut = lines.filter(({ error, attempts }) => error === 'aborted' && attempts.length > 0).length;
    expect(summary.delivered + cut).toBe(inBatches);
  });

  it('ends immediately when it is interrupted again', async () => {
    const hostile = await started(neverAnswers());
    const running = startHooks(await replayArgs(hostile.url, ['--timeout', '30s']));
    await reached(running, () => hostile.requests.length > 0);
    // Repeated, because two signals of a kind that are pending at the same time count as one.
    const again = setInterval(() => running.child.kill('SIGINT'), 20);
    const { code, signal, stdout } = await running.exited;
    clearInterval(again);
    expect([code, signal]).toEqual([null, 'SIGINT']);
    // A message that waited for room is reported as unsent. Messages in flight have no result, and there is no summary.
    expect(jsonLines(stdout).filter(({ outcome }) => outcome !== 'unsent')).toEqual([]);
    expect(jsonLines(stdout).length).toBeLessThanOrEqual(1);
  });

  it('does not wait for the time of its next message', async () => {
    const hostile = await started(slowReceiver(0));
    const running = await replayUntil(1, hostile, ['--rate', '1/h']);
    const { code, summary } = replayed(await running.stop());
    expect([code, summary.delivered]).toEqual([130, 1]);
  });

  it('queues no further message', async () => {
    const env = { HOOKS_URL: 'http://127.0.0.1:9/', HOOKS_DATA_DIR: temporaryFolder() };
    const flags = ['--queue', '--rate', '1/h', '-o', 'json'];
    const running = startHooks(['replay', await messagesFile(3), ...flags], { env });
    await running.lines.next();
    const { code, summary } = replayed(await running.stop());
    expect([code, summary.read, summary.queued, summary.unsent]).toEqual([130, 2, 1, 1]);
  });

  it('does not wait for the end of its input', async () => {
    const hostile = await started(slowReceiver(0));
    const flags = ['replay', '-', '--url', hostile.url, '-o', 'json'];
    const running = startHooks(flags, {
      stdin: '{"type":"track","event":"e","userId":"u"}\n',
      keepsStdinOpen: true,
    });
    await running.lines.next();
    const { code, summary, stderr } = replayed(await running.stop());
    expect([code, summary.read, summary.delivered, stderr]).toEqual([130, 1, 1, '']);
  });
});

describe('send that is interrupted between two rounds', () => {
  it.each([
    ['a webhook', (url: string) => ['--url', url]],
    ['a tracking API', (url: string) => ['--endpoint', url, '--write-key', 'k']],
  ])('reports its attempts at %s', async (_what, to) => {
    const hostile = await started(answers(503));
    const running = startHooks([...SEND, ...to(hostile.url), '-o', 'json']);
    await reached(running, () => running.stderr().includes('retry:'));
    const { code, stdout, stderr } = await running.stop();
    expect(code).toBe(130);
    const line = JSON.parse(stdout) as ResultLine;
    expect(line.outcome).toBe('unsent');
    expect(line.attempts.length).toBeGreaterThan(0);
    for (const attempt of line.attempts) expect(attempt).toMatchObject({ status: 503, error: 'http-5xx' });
    expect(hostile.requests).toHaveLength(line.attempts.length);
    expect(stderr).not.toMatch(/error|aborted/);
  });

  it('reports its attempts as text', async () => {
    const { url } = await started(answers(503));
    const running = startHooks([...SEND, '--url', url]);
    await reached(running, () => running.stderr().includes('retry:'));
    const { code, stdout } = await running.stop('SIGTERM');
    expect(code).toBe(143);
    expect(stdout).toMatch(/^· unsent .* 503 /);
  });
});

describe('a resumed replay', () => {
  it('skips after SIGKILL only what was delivered, and repeats little', async () => {
    const hostile = await started(slowReceiver(10));
    const dataDir = join(temporaryFolder(), 'data');
    const env = { HOOKS_DATA_DIR: dataDir };
    const args = await replayArgs(hostile.url);
    const running = startHooks(args, { env });
    const saved = new Set<number>();
    // The first checkpoint may have less than half of the deliveries, because a slow disk took it meanwhile.
    const isSavedTwice = (): boolean => {
      for (const file of checkpointsIn(join(dataDir, 'replays'))) saved.add(statSync(file).ino);
      return saved.size >= 2;
    };
    await reached(running, isSavedTwice);
    await running.stop('SIGKILL');

    const first = messageIdsAt(hostile);
    hostile.setDelay(0);
    const { code, summary } = await resume(args, env);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ read: COUNT - summary.skipped, delivered: COUNT - summary.skipped });
    expect(summary.skipped).toBeGreaterThan(first.length / 2);
    const arrived = messageIdsAt(hostile);
    expect(new Set(arrived).size).toBe(COUNT);
    // Every skipped message was delivered once.
    const second = new Set(arrived.slice(first.length));
    expect(first.filter((id) => !second.has(id))).toHaveLength(summary.skipped);
  });

  it('continues with another concurrency, timeout, retry window and secret', async () => {
    const hostile = await started(slowReceiver(5));
    const env = { HOOKS_DATA_DIR: join(temporaryFolder(), 'data') };
    const args = await replayArgs(hostile.url);
    const running = startHooks(args, { env });
    await reached(running, () => hostile.requests.length > 20);
    const { summary: first } = replayed(await running.stop());
    hostile.setDelay(0);
    const others = ['--concurrency', '32', '--timeout', '4s', '--retry-for', '1s', '--secret', 'rotated'];
    const { code, summary } = await resume([...args, ...others], env);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ skipped: first.delivered, delivered: COUNT - first.delivered });
  });

  it('starts from the beginning with another URL', async () => {
    const [one, other] = [await started(slowReceiver(5)), await started(slowReceiver(0))];
    const env = { HOOKS_DATA_DIR: join(temporaryFolder(), 'data') };
    const args = await replayArgs(one.url);
    const running = startHooks(args, { env });
    await reached(running, () => one.requests.length > 20);
    await running.stop();
    const { code, summary, stderr } = await replay(args[1] ?? '', other.url, ['--resume'], { env });
    expect([code, summary.skipped, summary.delivered]).toEqual([0, 0, COUNT]);
    expect(stderr).toMatch(/^nothing to resume: /);
  });
});

const COUNT = 3_000;

async function replayArgs(url: string, flags: readonly string[] = []): Promise<string[]> {
  const file = await messagesFile(COUNT);
  return ['replay', file, '--url', url, '--concurrency', String(CONCURRENCY), '-o', 'json', ...flags];
}

/** Starts a replay, and waits until it has printed this many lines. */
async function replayUntil(
  lines: number,
  { url }: HostileReceiver,
  flags: readonly string[],
): Promise<RunningHooks> {
  const running = startHooks(await replayArgs(url, flags));
  for (let count = 0; count < lines; count++) await running.lines.next();
  return running;
}

async function resume(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Replayed> {
  return replayed(await startHooks([...args, '--resume'], { env }).exited);
}

function checkpointsIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.json')) : [];
  return names.map((name) => join(folder, name));
}

/** Waits for a condition. Throws if the command ends before. */
async function reached({ child, exited }: RunningHooks, isSo: () => boolean): Promise<void> {
  await until(() => child.exitCode !== null || isSo(), 'the condition', { seconds: 20 });
  if (!isSo()) throw new Error(`Ended too early: ${JSON.stringify(await exited)}`);
}

function total({ delivered, failed, queued, filtered, invalid, unsent }: Summary): number {
  return delivered + failed + queued + filtered + invalid + unsent;
}

function idsOf(lines: readonly ResultLine[], wanted: string): string[] {
  return lines.filter(({ outcome }) => outcome === wanted).map(({ messageId }) => messageId);
}
