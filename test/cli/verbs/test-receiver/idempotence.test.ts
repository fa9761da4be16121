import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../free-port.ts';
import { isRunning } from '../../../is-running.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { until } from '../../../until.ts';
import { hooks, startHooks, type InProcessOptions } from '../../run-in-process.ts';

const RECEIVERS = join(import.meta.dirname, '../../../idempotence/receivers/receivers.js');
/** Prints the receiver's state, in one process, because a run reads the state a hundred times. */
const READ = '[ ! -f state/effects.txt ] || exec cat state/*.txt';
const WHSEC = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
/** Deletes the receiver's state. */
const RESET = 'rm -f state/*';

/** Runs `hooks test --state` on a receiver of receivers.js. Timeouts are long, because the machine may be busy. */
async function proved(
  name: string,
  flags: readonly string[],
  {
    state = READ,
    reset = RESET,
    ...options
  }: InProcessOptions & { state?: string; reset?: string | null } = {},
) {
  const cwd = temporaryFolder({ 'state/.keep': '' });
  const url = `http://127.0.0.1:${await freePort()}`;
  const args = ['test', url, '--state', state, '--timeout', '30s', '--no-config'];
  const resets = reset === null ? [] : ['--reset', reset];
  const command = ['--', process.execPath, RECEIVERS, name];
  const env = { DATA_DIR: join(cwd, 'state'), HOOKS_SECRET: 's3cret', ...options.env };
  const all = [...args, ...resets, ...flags, ...command];
  const result = await hooks(all, { timeoutMs: 150_000, ...options, env, cwd });
  const lines = result.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { ...result, cwd, lines };
}

/** Listens on a free port and returns the URL. */
async function urlOf(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // of a TCP server
  return `http://127.0.0.1:${port}/`;
}

describe.concurrent('hooks test --state', { timeout: 160_000 }, () => {
  it('finds check-then-act with two requests, both states, the fix and a report', async () => {
    const flags = ['-o', 'json', '--seed', '7', '--only', 'twice-at-once', '--report', 'r.xml'];
    const { code, lines, stderr, cwd } = await proved('check-then-act', flags);
    expect([code, lines.length], stderr).toEqual([1, 2]);
    expect(lines[0]).toMatchObject({
      check: 'twice-at-once',
      outcome: 'failed',
      diagnosis: { code: 'check-then-act', hint: expect.stringContaining('unique key') },
      counterexample: { seed: 7, schedule: 1, requests: [{ status: 200 }, { status: 200 }] },
    });
    // The fields that -o json writes.
    const states = lines[0]?.['counterexample'] as { expected: string; state: string } | undefined;
    const counts = [states?.expected, states?.state].map((text = '') => text.trim().split('\n').length);
    expect(counts).toEqual([1, 2]);
    expect(lines[1]).toMatchObject({ summary: { failed: 1, seed: 7 } });
    const report = readFileSync(join(cwd, 'r.xml'), 'utf8');
    expect(report).toContain('failures="1"');
    expect(report).toContain('2 requests:');
  });

  it('prints a command that repeats the check when pasted, with the secret of a header masked', async () => {
    const env = { HOOKS_TEST_TOKEN: 'Bearer t0p-s3cret' };
    const state = `printf '%s\\n' "$HOOKS_TEST_TOKEN" 'it'\\''s'; ${READ}`;
    const flags = ['--only', 'twice-at-once', '--seed', '3', '-H', 'Authorization: Bearer t0p-s3cret'];
    const { code, stdout, stderr } = await proved('check-then-act', flags, { env, state });
    expect(code, stderr).toBe(1);
    expect(stdout + stderr).not.toContain('t0p-s3cret');
    expect(stdout).toContain('- Bearer ***');
    const [, command = ''] = /repeat: hooks (.*)/.exec(stdout) ?? [];
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`])
      .toString()
      .split('\0');
    const after = (flag: string): string | undefined => words[words.indexOf(flag) + 1];
    expect([after('--state'), after('--reset'), after('--only'), after('--seed')]).toEqual([
      state,
      RESET,
      'twice-at-once',
      '3',
    ]);
    expect(after('--header')).toBe('Authorization: ***');
    expect(words.slice(words.indexOf('--') + 1, -1)).toEqual([process.execPath, RECEIVERS, 'check-then-act']);
  });

  it('repeats without a flag for the secret of HOOKS_SECRET, and asks to set HOOKS_SECRET to another secret', async () => {
    const flags = ['--only', 'twice-at-once', '--seed', '3', '--secret'];
    const same = await proved('check-then-act', [...flags, 's3cret']);
    expect(same.stdout).toContain('repeat: ');
    expect(same.stdout).not.toMatch(/--secret|must be set/);
    const other = await proved('check-then-act', [...flags, 'an0ther']);
    expect(other.stdout).toMatch(
      /repeat: .* --secret "\$HOOKS_SECRET" -- .*\n +\(HOOKS_SECRET must be set to the secret first/,
    );
    expect(other.stdout).not.toContain('an0ther');
  });

  it('omits the states if only the response to a duplicate was wrong', async () => {
    const { code, stdout, stderr } = await proved('fails-on-duplicates', ['--only', 'twice', '--seed', '3']);
    expect(code, stderr).toBe(1);
    expect(stdout).toContain('(fails-on-duplicates)');
    expect(stdout).not.toContain('expected state');
  });

  it('reports unsigned requests and the last output of a receiver that fails without its secret', async () => {
    const cwd = temporaryFolder({
      'app.mjs': `import { createServer } from 'node:http';
        createServer((request) => {
          console.error('line\\n'.repeat(8) + 'no secret');
          request.socket.resetAndDestroy();
        }).listen(Number(process.env.PORT), '127.0.0.1');`,
    });
    const url = `http://127.0.0.1:${await freePort()}`;
    const state = ['--state', 'echo same', '--reset', 'true', '--no-config'];
    const { code, stderr } = await hooks(['test', url, ...state, '--', process.execPath, 'app.mjs'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('accepted none of the 9 messages: the connection was reset');
    expect(stderr).toMatch(
      /hint: {2}give the secret with --secret or HOOKS_SECRET: the requests were\s+unsigned/,
    );
    expect(stderr).toMatch(/… \d+ lines of the receiver left out; -v shows all/);
    expect(stderr.match(/line|no secret/g)?.length).toBeLessThan(40);
  });

  it('hints that the state may start empty if --state fails without it, and accepts an empty state', async () => {
    const flags = ['--only', 'once', '-o', 'json'];
    const broken = await proved('sound', flags, { state: 'cat state/effects.txt' });
    expect(broken.code).toBe(2);
    expect(broken.stderr).toMatch(/before\s+the\s+receiver\s+has\s+written\s+anything/);
    const state = '[ ! -f state/effects.txt ] || cat state/effects.txt';
    const empty = await proved('sound', flags, { state });
    expect(empty.code, empty.stderr).toBe(0);
  });

  it('passes a correct receiver, and lists the skipped checks', async () => {
    const only = 'once,twice,twice-at-once,answer-lost,killed,shuffled';
    const flags = ['-o', 'json', '--schedules', '4', '--only', only];
    const { code, lines, stderr } = await proved('sound', flags);
    expect(lines.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(code, stderr).toBe(0);
    expect(lines.find(({ check }) => check === 'shuffled')).toMatchObject({ outcome: 'skipped' });
  });

  it('shows progress as lines in a pipe, as a bar on a terminal, and not at all with -o json', async () => {
    const flags = ['--schedules', '3', '--only', 'twice,twice-at-once,answer-lost'];
    const piped = await proved('sound', flags);
    const shown = await proved('sound', flags, { terminalColumns: 60 });
    const json = await proved('sound', [...flags, '-o', 'json']);
    expect(piped.stderr.split('\n').slice(0, -1)).toEqual([
      'sending each message once: the reference',
      'schedule 1 of 3, twice: each message twice',
      'schedule 2 of 3, twice-at-once: each message twice at the same moment',
      expect.stringContaining('schedule 3 of 3, answer-lost: the connection is cut'),
    ]);
    expect(shown.stderr).toMatch(/twice-at-once █+░+ 1 of 3, 33%, \d+s left/);
    expect(json.stderr).toBe('');
  });

  it('signs each attempt with every scheme of --scheme, with the same id and Idempotency-Key', async () => {
    const requests: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      requests.push(request.headers);
      request.resume().on('end', () => response.end());
    });
    const url = await urlOf(server);
    const schemes = ['--scheme', 'segment,standard-webhooks', '--secret', 's3cret', '--secret', WHSEC];
    const flags = ['--state', 'echo same', '--reset', 'true', '--state-timeout', '3s', '--no-config'];
    const { code, stderr } = await hooks(['test', url, ...flags, ...schemes]);
    server.close();
    expect([code, stderr]).toEqual([2, expect.stringContaining('did not change the state')]);
    expect(requests.length).toBeGreaterThan(5);
    for (const headers of requests) {
      expect(headers['x-signature']).toMatch(/^[0-9a-f]{40}$/);
      expect(headers['webhook-signature']).toMatch(/^v1,/);
      expect(headers['webhook-id']).toBe(headers['idempotency-key']);
    }
  });

  it('fits 60 columns', async () => {
    const flags = ['--only', 'twice-at-once', '--seed', '1'];
    const { stdout } = await proved('check-then-act', flags, { terminalColumns: 60 });
    expect(stdout).toContain('check-then-act');
    // Ids and the command to paste are not wrapped.
    const tooLong = stdout
      .split('\n')
      .filter((line) => line.length > 60 && !/hooks-test-|repeat: /.test(line));
    expect(tooLong).toEqual([]);
  });

  const UNUSABLE = [
    ['fails', 'echo broken >&2; exit 3', RESET, /--state ended with exit code 3: broken/],
    ['does not exist', 'no-such-program-at-all', RESET, /--state ended with exit code 127/],
    [
      'prints megabytes',
      'head -c 3000000 /dev/zero',
      RESET,
      /--state printed more than 1 MiB, and was killed/,
    ],
    ['hangs', 'sleep 1000', RESET, /--state did not end within 700ms, and was killed/],
    [
      'changes by itself',
      "printf 'a\\nb\\n'; node -p process.pid",
      RESET,
      /The state is not stable: line 3 differs/,
    ],
    ['never changes', 'echo same', RESET, /The reference run did not change the state/],
    ['is not reset', READ, 'true', /The reset does not bring the state back to the start: line 1 differs/],
    ['does not start empty', READ, null, /does not start empty, and no --reset is given: line 1 differs/],
    ['cannot be reset', READ, 'exit 4', /--reset ended with exit code 4/],
  ] as const;

  it.each(UNUSABLE)('ends with 2 and a hint when the state %s', async (what, state, reset, says) => {
    const timeout = { hangs: '700ms', 'never changes': '1s' }[what as string] ?? '20s';
    const flags = ['-o', 'json', '--state-timeout', timeout, '--report', 'r.json'];
    const { code, lines, stderr, cwd } = await proved('sound', flags, { state, reset });
    expect([code, lines.filter(({ outcome }) => outcome !== 'unsent')], stderr).toEqual([2, []]);
    expect(stderr).toMatch(says);
    expect(stderr).toMatch(/^hint: {2}[a-z]/m);
    expect(readFileSync(join(cwd, 'r.json'), 'utf8')).toContain('"unsent"');
  });

  it('does not reset if another program listens at the port of the receiver', async () => {
    const other = createServer((_, response) => response.end());
    const url = await urlOf(other);
    const cwd = temporaryFolder();
    const flags = ['--state', 'echo same', '--reset', 'touch was-reset', '--no-config'];
    const command = ['--', process.execPath, RECEIVERS, 'sound'];
    const { code, stderr } = await hooks(['test', url, ...flags, ...command], { cwd });
    other.close();
    expect([code, stderr]).toEqual([2, expect.stringContaining('Another program listens')]);
    expect(existsSync(join(cwd, 'was-reset'))).toBe(false);
  });

  it('rejects missing commands, flags that need --state, and unknown checks', async () => {
    const url = 'http://127.0.0.1:1/';
    const commands = ['--state', 'true', '--reset', 'true'];
    const cases: readonly (readonly [args: readonly string[], says: RegExp])[] = [
      [['--state', 'true'], /Expected --reset COMMAND or a receiver behind --, got neither/],
      [['--seed', '1'], /`--seed` is for `--state`, which is not given/],
      [['--only', 'twice'], /`--only twice` is for `--state`, which is not given/],
      [[...commands, '--only', 'twise'], /Unknown check `twise`/],
      [
        [...commands, '--only', 'track'],
        /Expected a check of the state with --only, got `track`, which runs without --state only/,
      ],
      [[...commands, '--capture', 'x'], /`--capture` and `--state` cannot be given together/],
      [[...commands, '--messages', 'none.json'], /none\.json: no such file/],
      [[...commands, '--late', '60000'], /Expected `--late` to be a time with its unit/],
      [['--state', '', '--reset', 'true'], /empty/],
      [[...commands, '--timeout', '2s'], /Cannot reach the receiver/],
    ];
    for (const [args, says] of cases) {
      const { code, stderr } = await hooks(['test', url, '--no-config', ...args]);
      expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
    }
  });

  it('ends the receiver and the command of --state when interrupted', async () => {
    const cwd = temporaryFolder({ 'state/.keep': '' });
    const url = `http://127.0.0.1:${await freePort()}`;
    const state = ['--state', 'echo $$ > pid; exec sleep 1000', '--state-timeout', '1m'];
    const flags = [...state, '--reset', RESET, '--no-config'];
    const receiver = `console.log('pid ' + process.pid); process.argv[2] = 'sound'; import('${RECEIVERS}')`;
    const running = startHooks(['test', url, ...flags, '--', process.execPath, '-e', receiver, 'x'], {
      cwd,
      env: { DATA_DIR: join(cwd, 'state') },
    });
    const hasPid = (): boolean =>
      existsSync(join(cwd, 'pid')) && readFileSync(join(cwd, 'pid'), 'utf8') !== '';
    await until(hasPid, 'the command of --state to run', { seconds: 40 });
    const { code, stderr } = await running.stop('SIGINT');
    expect(code).toBe(130);
    const pids = [Number(/pid (\d+)/.exec(stderr)?.[1]), Number(readFileSync(join(cwd, 'pid'), 'utf8'))];
    expect(pids.every((pid) => pid > 1)).toBe(true);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(readdirSync(cwd).toSorted()).toEqual(['pid', 'state']);
  });
});
