// Needs head. Fills a disk, and closes pipes and streams of the program in a shell.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answersOk } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { messageIdsAt, messagesFile, replayed, SEND, type Summary } from './delivering.ts';
import { BINARY, hooks, inherited } from './hooks.ts';
import { inShell } from './shell.ts';
import { slowReceiver } from './slow-receiver.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

/** Starts a receiver for a replay that takes longer than a test may. */
async function longReplay(...flags: readonly string[]) {
  const hostile = await started(slowReceiver(10));
  const file = await messagesFile(3_000);
  return { hostile, args: ['replay', file, '--url', hostile.url, '--concurrency', '1', ...flags] };
}

async function sendArgs(): Promise<string[]> {
  return [...SEND, '--url', (await started(answersOk())).url];
}

describe('a replay whose output is no longer read', () => {
  it.each([
    ['hooks "$@" | head -1', ['-o', 'json']],
    ['hooks "$@" | head -1', []],
    ['hooks "$@" 2>&1 | head -1', ['-v']],
    ['hooks "$@" | true', []],
  ])('ends soon without an error: %s %j', async (line, flags) => {
    const { hostile, args } = await longReplay(...flags);
    const { code, stdout, stderr } = await inShell(line, args);
    expect(code).toBe(0); // the code of the reader
    expect(stdout.split('\n').length).toBeLessThanOrEqual(2);
    expect(stderr.replace(/^config: .*\n/, '')).toBe('');
    expect(hostile.requests.length).toBeLessThan(3_000);
  });

  it('exits with 1 if it is a load, which has no signal to tell', async () => {
    const { url } = await started(answersOk());
    const args = ['replay', await messagesFile(3), '--url', url, '--loop', '--load', '5/s', '--for', '60s'];
    const line = '{ hooks "$@"; echo "exit $?" >&2; } | head -1';
    const { stderr } = await inShell(line, [...args, '-o', 'json']);
    expect(stderr.replace(/^config: .*\n/, '')).toBe('exit 1\n');
  });

  it('continues if only stderr is no longer read', async () => {
    const { url } = await started(answersOk());
    const args = ['replay', await messagesFile(3), '--url', url, '-v'];
    const { stdout } = await inShell('{ hooks "$@" 2>&1 >&3 | true; } 3>&1', args);
    expect(stdout).toMatch(/^delivered +3$/m);
  });
});

describe('a command without', () => {
  it.each(['>&-', '2>&-', '<&-', '<&- >&- 2>&-'])(
    'standard streams delivers its message (%s)',
    async (closing) => {
      const { code, stderr } = await inShell(`hooks "$@" ${closing}`, await sendArgs());
      expect([code, stderr]).toEqual([0, '']);
    },
  );

  it('standard input reports that there is nothing to read', async () => {
    const { code, stderr } = await inShell('hooks "$@" <&-', ['replay', '-', '--loopback']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: <stdin>: nothing to read/);
  });

  it('a current folder reports it, or works without it', async () => {
    const folder = temporaryFolder();
    const away = 'mkdir gone && cd gone && rmdir ../gone';
    const sent = await inShell(`${away} && hooks "$@"`, await sendArgs(), { cwd: folder });
    expect([sent.code, sent.stdout]).toEqual([2, '']);
    expect(sent.stderr).toMatch(/^error: The current folder is gone\nhint: .*\n$/);
    const signed = await inShell(`${away} && printf '{}' | hooks "$@"`, ['sign', '--secret', 's'], {
      cwd: folder,
    });
    expect(signed).toMatchObject({ code: 0, stderr: '' });
  });
});

const FULL = 'error: <stdout>: cannot be written: the disk is full\n';

describe.skipIf(process.platform !== 'linux')('a full disk under standard output', () => {
  it.each([
    ['send', () => Promise.resolve([...SEND])],
    ['replay', async () => ['replay', await messagesFile(3)]],
  ])('ends %s with an error', async (_command, command) => {
    const { url } = await started(answersOk());
    const { code, stderr } = await inShell('hooks "$@" >/dev/full', [...(await command()), '--url', url]);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `${FULL}hint:  make room, or redirect the output; messages that were delivered before stay delivered\n`,
    );
  });

  it.each([
    [['config']],
    [['--help']],
    [['send', '--help']],
    [['completion', 'bash']],
    [['sign', '--secret', 's']],
  ])('is reported without a hint to deliveries by %j', async (args) => {
    const { code, stderr } = await inShell('printf {} | hooks "$@" >/dev/full', args);
    expect([code, stderr]).toEqual([2, `${FULL}hint:  make room, or redirect the output\n`]);
  });
});

describe('a reader that stops reading', () => {
  it('pauses a replay, which continues without a loss when the reader continues', async () => {
    const total = 5_000;
    const hostile = await started(answersOk());
    const args = ['replay', await messagesFile(total), '--url', hostile.url, '-o', 'json'];
    const child = spawn(process.execPath, [BINARY, ...args], { env: inherited(), timeout: 25_000 });
    onTestFinished(() => void child.kill('SIGKILL'));
    const closed = once(child, 'close');
    await standstillOf(() => hostile.requests.length);
    // A pipe has 64 KiB, the buffer of hooks as much, and some messages are in flight.
    expect(hostile.requests.length).toBeLessThan(total / 2);
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    expect([code, stderr]).toEqual([0, '']);
    const { summary, lines } = replayed({ code: 0, signal: null, stdout, stderr });
    expect(summary).toMatchObject({ read: total, delivered: total });
    expect(new Set(lines.map(({ messageId }) => messageId)).size).toBe(total);
    expect(messageIdsAt(hostile)).toHaveLength(total);
  });
});

describe('a report', () => {
  it('is complete even if the result lines are no longer read', async () => {
    const folder = temporaryFolder();
    const { args } = await longReplay('--report', 'r.json', '--failed', 'f.ndjson');
    await inShell('hooks "$@" | head -1', args, { cwd: folder });
    const { summary } = JSON.parse(await readFile(join(folder, 'r.json'), 'utf8')) as { summary: Summary };
    expect(summary.unsent).toBeGreaterThan(0);
    expect(summary.read).toBe(summary.delivered + summary.unsent);
    const failed = await readFile(join(folder, 'f.ndjson'), 'utf8');
    expect(failed.trimEnd().split('\n')).toHaveLength(summary.unsent);
    expect(await hooks(['replay', join(folder, 'f.ndjson'), '--loopback', '-q'])).toMatchObject({ code: 0 });
  });
});

it('hooks test finishes its report if the result lines are no longer read', async () => {
  const folder = temporaryFolder();
  const { url } = await started(answersOk());
  await inShell('hooks "$@" | true', ['test', url, '--secret', 's', '--report', 'r.xml'], { cwd: folder });
  const report = await readFile(join(folder, 'r.xml'), 'utf8');
  expect(report).toContain(' errors="0"');
  expect(report).toMatch(/ failures="[1-9]/);
});

it('hooks import writes all captures if its lines are no longer read', async () => {
  const names = Array.from({ length: 10 }, (_, index) => `${index}.sh`);
  const folder = temporaryFolder(Object.fromEntries(names.map((name) => [name, 'curl a.example -d x'])));
  await inShell('hooks "$@" | true', ['import', ...names, '--to', 'out'], { cwd: folder });
  expect(await readdir(join(folder, 'out'))).toHaveLength(names.length);
});

/** Waits until a count has grown, and then has not changed for a while. */
async function standstillOf(count: () => number): Promise<void> {
  let [last, still] = [0, 0];
  const standsStill = (): boolean => {
    still = count() === last && last > 0 ? still + 1 : 0;
    last = count();
    return still >= 50;
  };
  await until(standsStill, 'the count to stand still');
}
