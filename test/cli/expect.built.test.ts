import { spawn } from 'node:child_process';
import { once as next } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { errorOf, expectRejected } from './expect-rejected.ts';
import { argv } from '../end-to-end/argv.ts';
import { BINARY, startHooks } from '../end-to-end/hooks.ts';
import { jsonLines, ROOT, SECRET } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { isRunning } from '../is-running.ts';
import { until } from '../until.ts';
import { hooks } from './run-in-process.ts';

const SEND = [process.execPath, BINARY, 'send', 'track', '--event', 'Signup', '--user-id', 'u1'];
const NODE = [process.execPath, '-e'];
/** Longer than any test may take, so that a test that waits this long fails. */
const LONG = ['--within', '60s'];

/** A program that starts a child, prints the child's process id, and keeps running. */
const LEAVES_A_CHILD = `
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
process.stdout.write('child ' + child.pid + '\\n');
`;

function childOf(stderr: string): number {
  return Number(/child (\d+)/.exec(stderr)?.[1]);
}

/** Returns a program that sends a message with a real client library. */
function realClient(writeKey: string): string {
  return `
    const { Analytics } = require(${JSON.stringify(join(ROOT, 'node_modules/@segment/analytics-node'))});
    const analytics = new Analytics({ writeKey: '${writeKey}', host: process.env.HOOKS_URL });
    analytics.track({ userId: 'u1', event: 'Signup' });
    analytics.closeAndFlush()`;
}

describe('hooks expect', () => {
  it('exits with 0 if the expected messages arrive, and passes secret and URL in the environment', async () => {
    const match = ['--match', 'type=track,event=Signup,userId=u1'];
    const flags = ['--count', '1', ...match, '--secret', SECRET, ...LONG];
    const { code, stdout, stderr } = await hooks(argv`expect ${flags} -- ${SEND}`);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^✓ count +1 request: 1 valid$/m);
    expect(stdout).toMatch(/^✓ match +type=track,event=Signup,userId=u1: request 1$/m);
    expect(stdout).toMatch(/^✓ signature +1 valid$/m);
    expect(stdout).toMatch(/^✓ command +COMMAND ended with exit code 0$/m);
    expect(stderr).toMatch(/^\| .*delivered/m);
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it('prints the differences of the request that comes nearest', async () => {
    const flags = ['--count', '1', '--match', 'event=Sign up,properties.plan=pro', ...LONG];
    const { code, stdout } = await hooks(['expect', ...flags, '--', ...SEND]);
    expect(code).toBe(1);
    expect(stdout).toContain(
      [
        '✗ match      event=Sign up,properties.plan=pro: the only message does not match',
        '            request 1 (track "Signup" by u1) comes nearest:',
        '              event            expected Sign up  got Signup',
        '              properties.plan  expected pro      got nothing',
      ].join('\n'),
    );
  });

  it('exits with 1 as soon as too many requests arrive', async () => {
    const program = `const post = () => fetch(process.env.HOOKS_URL, { method: 'POST', body: '{}' }); post().then(post);`;
    const { code, stdout } = await hooks(argv`expect --count 1 ${LONG} -- ${NODE} ${program}`);
    expect(code).toBe(1);
    expect(stdout).toContain('Expected 1 request, got 2 requests: 2 unchecked');
  });

  it('waits for requests after the command has ended', async () => {
    // The program that posts runs in the background: its parent ends first.
    const background = `
      const timer = setInterval(() => {
        if (!require('node:fs').existsSync('go')) return;
        clearInterval(timer);
        fetch(process.env.HOOKS_URL, { method: 'POST', body: '{}' });
      }, 20)`;
    const program = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(background)}], { stdio: 'ignore' }).unref()`;
    const cwd = temporaryFolder();
    const flags = ['--count', '1', '--linger', '60s', ...LONG];
    const running = startHooks(['expect', ...flags, '--', ...NODE, program], { cwd });
    await until(() => running.stderr().includes('COMMAND has ended; waiting'), 'the end of the command');
    await writeFile(join(cwd, 'go'), '');
    expect(await running.exited).toMatchObject({ code: 0 });
  });

  it('ends when no connection has been open for --linger, long before --within', async () => {
    const flags = ['--count', '1', '--linger', '100ms', '--within', '10m'];
    const { code, stdout } = await hooks(argv`expect ${flags} -- true`);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ count      Expected 1 request, got no request');
  });

  it('waits longer than --linger while a connection is open', async () => {
    // The background program sends its request a second after it has connected.
    const background = `
      const { port } = new URL(process.env.HOOKS_URL);
      const socket = require('node:net').connect(port, '127.0.0.1');
      const request = 'POST / HTTP/1.1\\r\\nHost: h\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}';
      socket.on('connect', () => { process.send(''); setTimeout(() => socket.write(request), 1000); });`;
    const program = `
      const args = ['-e', ${JSON.stringify(background)}];
      const child = require('node:child_process').spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
      child.once('message', () => { child.disconnect(); child.unref(); });`;
    const { code } = await hooks(argv`expect --count 1 --linger 50ms ${LONG} -- ${NODE} ${program}`);
    expect(code).toBe(0);
  });

  it.each([
    ['fails', ['process.exitCode = 3'], /^✗ command +COMMAND ended with exit code 3$/m],
    ['is ended by a signal', ['process.kill(process.pid, "SIGKILL")'], /^✗ command .*SIGKILL$/m],
  ])('exits with 1 immediately if the command %s', async (_what, program, line) => {
    const { code, stdout } = await hooks(argv`expect --count 1 ${LONG} -- ${NODE} ${program}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(line);
    expect(stdout).toContain('✗ count      Expected 1 request, got no request');
  });

  it('reports that only CORS preflights arrived', async () => {
    const program = `const ask = () => fetch(process.env.HOOKS_URL + '/v1/track', { method: 'OPTIONS' }); ask().then(ask);`;
    const flags = ['--count', '1', '--messages', '1', '--match', 'event=Signup', '--within', '1s'];
    const { code, stdout, stderr } = await hooks(argv`expect ${flags} -- ${NODE} ${program}`);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ count      Expected 1 request, got only 2 preflights\n');
    expect(stdout).toContain('✗ messages   Expected 1 message, got only 2 preflights\n');
    expect(stdout).toMatch(/✗ match .*only 2 preflights\n/);
    expect(stderr).toContain('hint:  look into the console of the browser');
  });

  it('stops a command that hangs, and its child processes', async () => {
    // The shell starts its child long before the time is over.
    const shell = ['sh', '-c', 'sleep 1000 & echo child $!; wait'];
    const { code, stdout, stderr } = await hooks(argv`expect --count 0 --within 3s -- ${shell}`);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ command    COMMAND had not ended after 3s, and was stopped');
    expect(childOf(stderr)).toBeGreaterThan(0);
    expect(isRunning(childOf(stderr))).toBe(false);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('leaves no process behind after %s', async (signal, expected) => {
    const program = `${LEAVES_A_CHILD}
      fetch(process.env.HOOKS_URL, { method: 'POST', body: '{"type":"track"}' });
      setInterval(() => {}, 1000)`;
    const running = startHooks(argv`expect --count 2 ${LONG} -o json -- ${NODE} ${program}`);
    expect((await running.lines.next()).value).toContain('"type":"track"');
    const { code, stdout, stderr } = await running.stop(signal);
    expect(code).toBe(expected);
    expect(jsonLines(stdout).at(-1)).toMatchObject({ summary: { met: false, requests: 1 } });
    expect(childOf(stderr)).toBeGreaterThan(0);
    expect(isRunning(childOf(stderr))).toBe(false);
  });

  it('prints requests, expectations and a summary as JSON', async () => {
    const flags = ['--at-least', '1', '--at-most', '1', '--match', 'type=page', ...LONG, '-o', 'json'];
    const { code, stdout } = await hooks(['expect', ...flags, '--', ...SEND]);
    expect(code).toBe(1);
    expect(jsonLines(stdout)).toMatchObject([
      { method: 'POST', type: 'track', verdict: 'unchecked', status: 200 },
      { expectation: 'count', met: true },
      {
        expectation: 'match',
        filter: 'type=page',
        met: false,
        nearest: { request: 1, differences: [{ path: 'type', expected: 'page', got: 'track' }] },
      },
      { expectation: 'command', met: true },
      { summary: { met: false, expectations: 3, failed: 1, requests: 1 } },
    ]);
  });

  it('writes a JUnit and a JSON report', async () => {
    const cwd = temporaryFolder();
    await hooks(argv`expect --count 1 --match event=<&"> ${LONG} --report r.xml -- ${SEND}`, { cwd });
    const xml = await readFile(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toContain('<testsuite name="hooks expect" tests="3" failures="1" errors="0" skipped="0"');
    expect(xml).toContain(
      'name="match event=&lt;&amp;&quot;&gt;" time="0.000"><failure message="the only message does not match" type="match">',
    );
    expect(xml).toContain('<testcase classname="hooks expect" name="count" time="0.000"/>');
    // The command takes the time of the whole run.
    const [, time] = /<testsuites [^>]*time="([\d.]+)"/.exec(xml) ?? [];
    expect(xml).toContain(`<testcase classname="hooks expect" name="command" time="${time}"/>`);
    await hooks(argv`expect --count 1 --report r.json -- ${SEND}`, { cwd });
    expect(JSON.parse(await readFile(join(cwd, 'r.json'), 'utf8'))).toMatchObject({
      results: [
        { expectation: 'count', met: true },
        { expectation: 'command', met: true },
      ],
      summary: { met: true, expectations: 2, failed: 0, requests: 1 },
    });
  });

  it('fails for a message that a tracking API rejects, and does not write a snapshot', async () => {
    const cwd = temporaryFolder();
    const batch = [{ type: 'track', event: 'A', userId: 'u1' }, { type: 'track' }];
    const send = `fetch(process.env.HOOKS_URL + '/v1/batch', { method: 'POST', body: '${JSON.stringify({ batch })}' })`;
    const flags = ['--messages', '2', '--snapshot', 'a.snap'];
    const { code, stdout } = await hooks(argv`expect ${flags} -- node -e ${send}`, { cwd });
    expect(code).toBe(1);
    expect(stdout).toMatch(/✗ valid +hooks serve rejects 1 of 2 messages: message 2 of request 1: Expected/);
    expect(stdout).toContain('a.snap: not written, because another expectation is not met');
    expect(existsSync(join(cwd, 'a.snap'))).toBe(false);
  });

  it('compares the whole write key of a real client, and never prints the key', async () => {
    const [key, other] = ['KEY-OF-A-WORKSPACE', 'KEY-OF-ANOTHER-ONE'];
    const cwd = temporaryFolder();
    const run = (sent: string, ...flags: string[]) =>
      hooks(argv`expect ${flags} --snapshot a.snap -- ${NODE} ${realClient(sent)}`, { cwd });
    const right = ['--each', `writeKey=${key}`, '--no-match', `writeKey=${other}`];
    const wrong = argv`${right} --messages 1 --match ${`1x writeKey=${key}`} --match writeKey~^${key}`;
    const written = await run(key, ...right);
    expect([written.code, written.stdout]).toEqual([
      0,
      expect.stringMatching(/✓ each +writeKey=…PACE: 1 message/),
    ]);
    const failed = await run(other, ...wrong, '-v', '--report', 'r.xml');
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/writeKey +expected …PACE +got …-ONE/),
    ]);
    const asJson = await run(other, ...wrong, '-v', '-o', 'json', '--report', 'r.json');
    expect(jsonLines(asJson.stdout)[0]).toMatchObject({ messages: [{ writeKey: '…-ONE' }] });
    const files = await Promise.all(
      ['a.snap', 'r.xml', 'r.json'].map((name) => readFile(join(cwd, name), 'utf8')),
    );
    const shown = [written, failed, asJson].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect([...shown, ...files].filter((text) => /KEY-OF/.test(text))).toEqual([]);
    const refused = [
      ['--each', `writeKey==${key}`],
      ['--each', `3x writeKey=${key}`],
      ['--match', `3xwriteKey=${key}`],
      ['--match', `writeKey>${key}`],
      ['--match', `2x writeKey=${key}`, '--match', 'a=b', '--match', 'a=c', '--in-order'],
    ];
    for (const flags of refused) {
      const { code, stderr } = await run(key, ...flags);
      expect([code, stderr], stderr).toEqual([2, expect.not.stringContaining(key)]);
      expect(stderr).toContain('…PACE');
    }
  });

  it('fails for an unreadable body, and does not write a snapshot', async () => {
    const cwd = temporaryFolder();
    const send = `const post = (body) => fetch(process.env.HOOKS_URL, { method: 'POST', body });
      post('email=a%40b.c').then(() => post('{"type":"page"}'))`;
    const flags = ['--count', '2', '--no-match', 'properties.email?', '--snapshot', 'a.snap'];
    const run = () => hooks(argv`expect ${flags} -- ${NODE} ${send}`, { cwd });
    const { code, stdout } = await run();
    const why = 'request 1 cannot be read: Expected a value, got `email` (line 1, column 1)';
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ no-match   properties.email?: ${why}`);
    expect(stdout).toContain(`✗ snapshot   a.snap: ${why}`);
    expect(existsSync(join(cwd, 'a.snap'))).toBe(false);
  });

  it('writes a snapshot with the mode of other new files', async () => {
    const cwd = temporaryFolder();
    await hooks(argv`expect --snapshot a.snap -- ${SEND}`, { cwd });
    const { mode } = await stat(join(cwd, 'a.snap'));
    expect((mode & 0o777).toString(8)).toBe((0o666 & ~process.umask()).toString(8));
  });

  it('reports the line of a merge conflict in a snapshot, and replaces the snapshot with --update', async () => {
    const conflict = '# hooks snapshot 1: x\n\nuser "u1"\n\n<<<<<<< HEAD\n';
    const cwd = temporaryFolder({ 'a.snap': conflict, 'b.snap': `{"a":1}` });
    const run = (...flags: string[]) => hooks(['expect', ...flags, '--', ...SEND], { cwd });
    const { code, stderr } = await run('--snapshot', 'a.snap');
    expect([code, stderr]).toEqual([
      2,
      'error: a.snap:5: expected a snapshot without a merge conflict\nhint:  resolve the conflict, or write the snapshot again with --update\n',
    ]);
    expect((await run('--snapshot', 'a.snap', '--update')).code).toBe(0);
    expect(await readFile(join(cwd, 'a.snap'), 'utf8')).toContain('\ntrack "Signup"\n');
    expect((await run('--snapshot', 'b.snap', '--update')).code).toBe(2);
    expect(await readFile(join(cwd, 'b.snap'), 'utf8')).toBe('{"a":1}');
  });

  it('keeps the mode of a snapshot with --update, and rejects a read-only snapshot', async () => {
    const text = '# hooks snapshot 1: x\n';
    const cwd = temporaryFolder({ 'a.snap': text, 'b.snap': text });
    await Promise.all([chmod(join(cwd, 'a.snap'), 0o640), chmod(join(cwd, 'b.snap'), 0o444)]);
    const run = (file: string) => hooks(argv`expect --snapshot ${file} --update -- ${SEND}`, { cwd });
    expect((await run('a.snap')).code).toBe(0);
    expect((await stat(join(cwd, 'a.snap'))).mode & 0o777).toBe(0o640);
    expect(await run('b.snap')).toMatchObject({
      code: 2,
      stderr:
        'error: b.snap: cannot be written: it is read-only\nhint:  make it writable for its owner: chmod u+w\n',
    });
    expect(await readFile(join(cwd, 'b.snap'), 'utf8')).toBe(text);
  });

  it.each([
    ['1', 1],
    ['yes', 1],
    ['false', 0],
    ['0', 0],
  ])('with CI=%s exits with %s if a snapshot is missing', async (CI, expected) => {
    const options = { cwd: temporaryFolder(), env: { CI } };
    expect((await hooks(['expect', '--snapshot', 'a.snap', '--', ...SEND], options)).code).toBe(expected);
  });

  it.each([
    ['2', 0],
    ['1', 1],
  ])(
    'lets COMMAND run to its end if its output is not read: --count %s exits with %s',
    async (count, code) => {
      const twice = `const post = () => fetch(process.env.HOOKS_URL, { method: 'POST', body: '{}' });
      await post(); await new Promise((done) => setTimeout(done, 100)); await post();
      require('node:fs').writeFileSync('done', '');`;
      const cwd = temporaryFolder();
      const command = [...NODE, `(async () => { ${twice} })()`];
      const flags = ['--count', count, ...LONG];
      const child = spawn(process.execPath, [BINARY, 'expect', ...flags, '--', ...command], {
        cwd,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      child.stdout.destroy();
      const [ended] = (await next(child, 'exit')) as [number | null];
      expect([ended, existsSync(join(cwd, 'done'))]).toEqual([code, true]);
    },
  );

  it('exits with 2 and names the schema if a $ref of the schema leads back to itself', async () => {
    const reference = { $ref: '#/properties/userId' };
    const schema = { Signup: { properties: { userId: { allOf: [reference] } } } };
    const cwd = temporaryFolder({ 's.json': JSON.stringify(schema) });
    const error = errorOf(await hooks(argv`expect --schema s.json -- ${SEND}`, { cwd }));
    const why = 'compiles at track "Signup" (/Signup): a $ref leads back to its own schema';
    expect(error).toContain(`error: s.json: expected a JSON Schema that ${why}`);
  });

  it('names the file of schemas with a duplicate key', async () => {
    const cwd = temporaryFolder({ 's.json': '{"A":{},"A":{}}' });
    await expectRejected(['expect', '--schema', 's.json', '--', ...SEND], /^error: s\.json: .*A/, { cwd });
  });

  it('replaces a report of an earlier run if the command cannot be started', async () => {
    const cwd = temporaryFolder({ 'r.xml': '<testsuites tests="1" failures="0"/>' });
    const { code } = await hooks(argv`expect --at-most 1 --report r.xml -- no-such-program`, { cwd });
    expect(code).toBe(2);
    const xml = await readFile(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toContain('tests="1" failures="0" errors="1"');
    expect(xml).toContain('<error message="The command no-such-program cannot be started');
  });

  it.each(['SIGHUP', 'SIGQUIT'] as const)('ends the children of the command on %s', async (name) => {
    const args = ['expect', '--count', '1', ...LONG, '--', ...NODE, LEAVES_A_CHILD];
    const running = startHooks(args, { cwd: temporaryFolder() });
    await until(() => /child \d+/.test(running.stderr()), 'the child');
    expect((await running.stop(name)).signal).toBe(name);
    await until(() => !isRunning(childOf(running.stderr())), 'the end of the child');
  });

  it.each<[string, string[], RegExp]>([
    ['nothing is expected', ['--', 'true'], /^error: Nothing is expected\nhint: .*--count/],
    ['there is no command', ['--count', '1'], /Expected the argument `command`, got nothing/],
    [
      'the program is not there',
      ['--count', '1', '--', 'no-such-program'],
      /no such program\nhint: .*-- node server\.js/,
    ],
    ['a count is not a number', ['--count', '-1', '--', 'true'], /--count/],
    [
      'a match is not a filter',
      ['--match', 'track', '--', 'true'],
      /Expected `--match` to be path=value, got track/,
    ],
    [
      'no space follows a count',
      ['--match', '3xevent=A', '--', 'true'],
      /Expected a space after `3x` in `--match`, got 3xevent=A\nhint: +write --match '3x event=A'/,
    ],
    ['--each has a count', ['--each', '3x event=A', '--', 'true'], /`--each` takes no count/],
    ['more matches than requests', ['--count', '0', '--match', 'a=b', '--', 'true'], /cannot be met by 0/],
    ['counts contradict', argv`--count 0 --at-most 1 -- true`, /`--count` and `--at-most` cannot be given/],
    [
      'a counted match is in an order',
      [...argv`--match event=A --match ${'1x event=B'} --in-order`, '--', 'true'],
      /^error: `--in-order` and `--match '1x event=B'` cannot be given together\n/,
    ],
    ['a report has no format', ['--count', '1', '--report', 'r.txt', '--', 'true'], /\.xml or \.json/],
  ])('exits with 2 if %s', async (_what, args, sentence) => {
    await expectRejected(['expect', ...args], sentence);
  });

  it('responds as --respond says, so that a sender must try again', async () => {
    const once = ['--messages', '1', '--match', '1x event=Signup'];
    const flags = ['--count', '2', ...once, '--respond', '503,200', ...LONG];
    const { code } = await hooks(['expect', ...flags, '--', ...SEND], { cwd: ROOT });
    expect(code).toBe(0);
  });
});
