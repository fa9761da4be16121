import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { argv } from './argv.ts';
import { CHECKS } from '../../src/check/checks.ts';
import { SCHEDULE_CODES } from '../../src/idempotence/plan/schedule.ts';
import { makeCertificates } from '../certificates.ts';
import { answersOk } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { freePort } from '../free-port.ts';
import { hooks } from '../cli/run-in-process.ts';
import type { RunningHooks } from './hooks.ts';
import { receiving, ROOT, SECRET } from './receiving.ts';
import { RECEIVERS, startTesting, tested, testing } from './testing.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { isRunning } from '../is-running.ts';

const certificates = await makeCertificates();
afterAll(() => certificates.remove());

const NODE = ['node', join(RECEIVERS, 'receiver.js')];

/** Returns the counts at the top of a JUnit file. */
function totals(file: string): Record<string, number> {
  const tag = /<testsuites ([^>]*)>/.exec(readFileSync(file, 'utf8'))?.[1] ?? '';
  const counts = [...tag.matchAll(/(tests|failures|errors|skipped)="(\d+)"/g)];
  return Object.fromEntries(counts.map(([, name = '', count]) => [name, Number(count)]));
}

async function reportIn(): Promise<{ readonly file: string; readonly flags: string[] }> {
  const file = join(temporaryFolder(), 'r.xml');
  return { file, flags: ['--report', file] };
}

describe('hooks test URL -- COMMAND', () => {
  it.concurrent('starts the receiver, checks it, stops it, and writes a JUnit report', async () => {
    const { file, flags } = await reportIn();
    // Through a shell, like npm start, whose child must be stopped, too.
    const shell = ['sh', '-c', `echo "pid $$"; "$@" & echo "pid $!"; wait`, 'sh', ...NODE];
    const { code, checks, stderr } = await testing(shell, flags);
    expect([code, checks('failed')]).toEqual([0, []]);
    expect(totals(file)).toEqual({ tests: CHECKS.length, failures: 0, errors: 0, skipped: 2 });
    const pids = [...stderr.matchAll(/^\| pid (\d+)$/gm)].map(([, pid]) => Number(pid));
    expect(pids).toHaveLength(2);
    expect(pids.filter(isRunning)).toEqual([]);
  });

  it.concurrent('prints the output of the receiver without the secret, and with -q no output', async () => {
    const command = ['sh', '-c', 'echo "the secret is $HOOKS_SECRET"; exec "$@"', 'sh', ...NODE];
    const { code, stdout, stderr } = await testing(command, ['--only', 'track']);
    expect([code, stderr.split('\n')[0]]).toEqual([0, '| the secret is ***']);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(await testing(command, ['--only', 'track', '-q'])).toMatchObject({ code: 0, stderr: '' });
  });

  const WAIT = 'setInterval(() => {}, 1e6)';
  const NEVER = [
    ['ends at once', argv`node -e process.exitCode=3`, 'ended with exit code 3 before it listened'],
    ['never listens', argv`node -e ${WAIT}`, 'runs, but does not listen at \\S+ after'],
    ['does not exist', ['no-such-program'], 'no-such-program cannot be started: there is no such program'],
  ] as const;

  it.concurrent.each(NEVER)('exits with 2 and writes a report if COMMAND %s', async (what, command, says) => {
    const { file, flags } = await reportIn();
    const timing = what === 'never listens' ? ['--start-timeout', '2s'] : [];
    const { code, stdout, stderr } = await testing(command, [...flags, ...timing]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(new RegExp(says));
    expect(stderr).toMatch(/^hint: /m);
    expect(totals(file)).toEqual({ tests: 1, failures: 0, errors: 1, skipped: 0 });
  });

  it.concurrent('does not start COMMAND if another program listens at the URL', async () => {
    const { file, flags } = await reportIn();
    const { url } = await receiving();
    const marker = join(temporaryFolder(), 'started');
    await expectRejected(
      argv`test ${url} ${flags} -- touch ${marker}`,
      'before the command is started: it would be tested instead',
    );
    expect([existsSync(marker), totals(file)['errors']]).toEqual([false, 1]);
  });

  it.concurrent('fails if COMMAND dies, and reports the remaining checks as errors', async () => {
    const { file, flags } = await reportIn();
    const { code, checks, lines, stderr } = await testing(['node', join(RECEIVERS, 'broken/dies.js')], flags);
    expect([code, checks('failed')]).toEqual([1, ['unsigned']]);
    expect(lines.find(({ check }) => check === 'tampered')).toMatchObject({
      outcome: 'unsent',
      reason: 'the receiver ended with exit code 1 during the check unsigned, so these checks did not run',
    });
    expect(stderr).toContain('error: The receiver did not last: the receiver ended with exit code 1');
    expect(totals(file)).toMatchObject({ failures: 1, errors: checks('unsent').length });
  });

  it.concurrent('fails after three requests without a response if COMMAND hangs', async () => {
    const { file, flags } = await reportIn();
    const command = ['node', join(RECEIVERS, 'broken/hangs.js')];
    const { code, checks, lines } = await testing(command, [...flags, '--timeout', '100ms']);
    expect([code, checks('failed')]).toEqual([1, ['redirect', 'page', 'screen']]);
    expect(lines.at(-2)).toMatchObject({ outcome: 'unsent', reason: 'the last 3 requests got no response' });
    expect(totals(file)).toMatchObject({ failures: 3, skipped: 2 });
  });

  it.concurrent('kills COMMAND if it ignores SIGTERM, with the same result', async () => {
    const program = `process.on('SIGTERM', () => {}); console.log('pid ' + process.pid); import('${NODE[1]}')`;
    const { code, stderr } = await testing(['node', '-e', program], ['--only', 'track']);
    expect(code).toBe(0);
    expect(stderr).toContain('did not stop on SIGTERM, and was killed');
    expect(isRunning(Number(/pid (\d+)/.exec(stderr)?.[1]))).toBe(false);
  });

  it.concurrent.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('stops COMMAND on %s, writes a report, and exits with %i', async (signal, expected) => {
    const { file, flags } = await reportIn();
    const hanging = argv`sh -c ${'echo "pid $$"; exec "$@"'} sh node ${join(RECEIVERS, 'broken/hangs.js')}`;
    const running = await startTesting(hanging, flags);
    await printed(running, /^\| pid \d+$/m);
    const { code, stderr } = await running.stop(signal);
    expect(code).toBe(expected);
    expect(isRunning(Number(/pid (\d+)/.exec(stderr)?.[1]))).toBe(false);
    expect(totals(file)['errors']).toBeGreaterThan(0);
  });

  it.concurrent('kills COMMAND on a second Ctrl-C', async () => {
    const stubborn = `process.on('SIGTERM', () => console.log('asked')); console.log('pid ' + process.pid); setInterval(() => {}, 1e6)`;
    const running = await startTesting(['node', '-e', stubborn]);
    await printed(running, /^\| pid \d+$/m);
    running.child.kill('SIGINT');
    await printed(running, /^\| asked$/m);
    const { code, stderr } = await running.stop('SIGINT');
    expect(code).toBe(130);
    expect(isRunning(Number(/pid (\d+)/.exec(stderr)?.[1]))).toBe(false);
  });
});

describe('hooks test URL', () => {
  it.concurrent('exits with 2 for a port without a listener', async () => {
    const url = `http://127.0.0.1:${await freePort()}/`;
    await expectRejected(
      argv`test ${url} --only track`,
      `error: Cannot reach ${url}: the connection was refused`,
    );
  });

  it.concurrent('skips forgeries without a secret, and prints a note', async () => {
    const { url } = await receiving({ respond: '200' });
    const { code, checks, lines, stderr } = tested(await hooks(argv`test ${url} -o json`));
    expect([code, checks('failed')]).toEqual([1, ['malformed']]);
    const forgeries = 'unsigned wrong-signature short-signature garbage-signature tampered other-secret';
    const skipped = `tls raw-bytes ${forgeries} constant-time`;
    expect(checks('skipped').join(' ')).toBe(skipped);
    expect(lines.find(({ check }) => check === 'unsigned')?.reason).toContain('no secret given');
    expect(stderr).toContain('No secret given');
  });

  it.concurrent('names only signed messages signed', async () => {
    const { url } = await receiving({ respond: '200' });
    const flags = ['--only', 'track,latency,malformed'];
    const titles = async (...more: readonly string[]): Promise<string[]> => {
      const { file, flags: report } = await reportIn();
      const { stdout } = await hooks(argv`test ${url} ${flags} ${report} ${more}`);
      const text = stdout + readFileSync(file, 'utf8');
      return [...new Set(text.match(/(?:message|at once|not JSON), (?:un)?signed/g))].toSorted();
    };
    expect(await titles('--secret', SECRET)).toEqual([
      'at once, signed',
      'message, signed',
      'not JSON, signed',
    ]);
    expect(await titles()).toEqual(['at once, unsigned', 'message, unsigned', 'not JSON, unsigned']);
  });

  it.concurrent('asks for the secret of a receiver that rejects unsigned messages', async () => {
    const { url, requests } = await receiving({ respond: '401' });
    expect(await hooks(['test', url])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: [
        `error: Cannot test ${url}: it rejects unsigned messages with 401`,
        'hint:  give the secret that it verifies with: --secret-file FILE or HOOKS_SECRET',
        '',
      ].join('\n'),
    });
    expect(requests.length).toBeLessThanOrEqual(2);
    expect((await hooks(argv`test ${url} --only malformed`)).stderr).toContain(
      'it rejects unsigned messages',
    );
  });

  it.concurrent(
    'does not ask for the secret of a receiver that rejects one type without a reason',
    async () => {
      const { url } = await receiving({ respond: '400,200' });
      const { code, faults, checks } = tested(await hooks(argv`test ${url} -o json --only track,page`));
      expect([code, faults, checks('passed')]).toEqual([1, { page: 'refuses-valid' }, ['track']]);
    },
  );

  it.concurrent('prints each mistake once, with a fix', async () => {
    const { url } = await receiving({ respond: '200' });
    const { code, stdout } = await hooks(argv`test ${url} --secret ${SECRET} --skip malformed`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ unsigned +200 in .*, expected 4xx /m);
    expect(stdout).toMatch(
      /^ {4}fix: {3}check the URL; then verify each message: .* respond with 401 before/m,
    );
    expect(stdout.match(/it accepts everything/g)).toHaveLength(1);
    expect(stdout).toMatch(
      /^✗ 5 more checks: 200 {2}\(takes-everything, as above\)\n {4}wrong-signature, .*other-secret$/m,
    );
    expect(stdout).toMatch(/^\d+ passed, 6 failed, 2 skipped, in /m);
  });

  it.concurrent('sends the body of a capture too', async () => {
    const to = await receiving({ secret: SECRET });
    const capture = join(ROOT, 'fixtures/captures/track.json');
    const args = ['test', to.url, '--secret', SECRET, '--capture', capture, '--only', 'capture'];
    expect(await hooks(args)).toMatchObject({ code: 0 });
    expect(to.requests.map(({ verdict }) => verdict)).toEqual(['valid']);
    expect(to.bodies()).toEqual([(JSON.parse(readFileSync(capture, 'utf8')) as { body: string }).body]);
  });

  it.concurrent('sends the user of the URL and the headers of flags, and prints neither', async () => {
    const to = await receiving({ respond: '500' });
    const url = to.url.replace('//', '//user:CANARY@');
    const args = ['test', url, '--header', 'X-Key: CANARY', '--only', 'track', '-o', 'json'];
    const { stdout, stderr } = await hooks(args);
    expect(to.requests[0]?.rawHeaders).toEqual(
      expect.arrayContaining([`Basic ${Buffer.from('user:CANARY').toString('base64')}`, 'CANARY']),
    );
    expect(stdout + stderr).not.toContain('CANARY');
  });

  it.concurrent.each([
    [['--only', 'unsined'], 'hint:  did you mean unsigned?'],
    [['--only', 'track', '--skip', 'track'], 'Expected at least one check to run, got none'],
    [['--only', 'unsigned'], 'Every chosen check was skipped'],
    [['--report', 'r.txt'], 'Expected `--report` to end in .xml or .json, got r.txt'],
    [['--report', 'none/r.xml'], 'none/r.xml: cannot be written: there is no such folder'],
    [['--capture', 'fixtures/track.json'], 'fixtures/track.json: not a capture (--capture)'],
    [['--timeout', '1h'], '--timeout'],
    [['--ca', 'nope.pem'], 'Expected `--ca` to be a file that can be read'],
    [['--ca', 'package.json'], 'Expected `--ca` to be a PEM file of certificates'],
  ])('exits with 2 for %j', async (flags, says) => {
    const { url } = await receiving();
    const { code, stderr } = await hooks(['test', url, ...flags], { cwd: ROOT });
    expect([code, stderr]).toEqual([2, expect.stringContaining(says)]);
  });

  it.concurrent('--list shows every check', async () => {
    const { code, stdout } = await hooks(['test', '--list']);
    expect(code).toBe(0);
    expect(stdout.trim().split('\n')).toHaveLength(CHECKS.length + SCHEDULE_CODES.length);
  });
});

describe('hooks test https://…', () => {
  it.each([
    ['selfSigned', 'tls-self-signed'],
    ['expired', 'tls-expired'],
    ['otherName', 'tls-hostname'],
    ['unknownCa', 'tls-chain-between'],
  ] as const)('fails for the certificate %s, and sends no request', async (name, error) => {
    const { url } = await started(answersOk({ certificate: certificates[name] }));
    const args = ['test', url, '-o', 'json', '--secret', SECRET, '--ca', certificates.caFile];
    const { code, faults, lines } = tested(await hooks(args));
    expect([code, faults]).toEqual([1, { tls: error }]);
    expect(lines[0]?.diagnosis?.hint).toMatch(/certificate|name/);
    expect(lines[1]).toMatchObject({ check: 'redirect', outcome: 'unsent' });
  });

  it('passes for a valid certificate', async () => {
    const { url } = await started(answersOk({ certificate: certificates.good }));
    const args = ['test', url, '-o', 'json', '--ca', certificates.caFile, '--only', 'tls,track'];
    const { code, checks } = tested(await hooks(args));
    expect([code, checks('passed')]).toEqual([0, ['tls', 'track']]);
  });

  it('trusts the issuers of the config, unless --ca names others', async () => {
    const { url } = await started(answersOk({ certificate: certificates.good }));
    const cwd = temporaryFolder({
      'good.yaml': `delivery: { ca: ${certificates.caFile} }\n`,
      'other.yaml': `delivery: { ca: ${certificates.unknownCa.certFile} }\n`,
      'missing.yaml': 'delivery: { ca: missing.pem }\n',
    });
    const run = (...flags: string[]) => hooks(argv`test ${url} --only track -v ${flags}`, { cwd });
    const good = await run('-c', 'good.yaml');
    expect([good.code, good.stderr.match(/^config: /gm)]).toEqual([0, ['config: ']]);
    expect(await run('-c', 'other.yaml', '--ca', certificates.caFile)).toMatchObject({ code: 0 });
    expect(await run('-c', 'other.yaml')).toMatchObject({ code: 1 });
    const missing = await run('-c', 'missing.yaml');
    expect(missing.code).toBe(2);
    expect(missing.stderr).toContain('Expected `delivery.ca` to be a file that can be read');
  });
});

async function printed({ stderr, child }: RunningHooks, what: RegExp): Promise<void> {
  await until(() => child.exitCode !== null || what.test(stderr()), String(what));
  if (!what.test(stderr())) throw new Error(`Expected ${what} in: ${stderr()}`);
}
