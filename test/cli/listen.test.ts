import { once } from 'node:events';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { RawConnection, rawPost } from '../receiver/raw-connection.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';
import { listeningBy } from '../end-to-end/listening-by.ts';
import { hooks, startHooks, type HooksOptions } from './run-in-process.ts';

const SECRET = 's3cret-of-the-test';
const BODY = '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{},"messageId":"m1"}';
// Control characters that affect a terminal, except the line breaks of the output.
// eslint-disable-next-line no-control-regex -- the test is about control characters
const RAW_CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

const listening = (args: readonly string[] = [], options: HooksOptions = {}) =>
  listeningBy(startHooks, args, options);

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

/** Sends several requests in one write, so that they arrive at the same time. */
async function sendAtOnce(port: number, requests: string): Promise<void> {
  const client = await RawConnection.open(port);
  client.write(requests);
}

describe('hooks listen -o json', () => {
  it('prints its URL, then a line for each request', async () => {
    const listen = await listening(['--secret', SECRET]);
    expect(listen.ready).toEqual({
      ready: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) as string,
    });
    await listen.post(BODY, { 'X-Signature': sign(BODY, SECRET) });
    expect(await listen.nextLine()).toEqual({
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      method: 'POST',
      path: '/hook',
      type: 'track',
      event: 'Signup',
      userId: 'u1',
      messageId: 'm1',
      messages: [{ index: 0, type: 'track', event: 'Signup', userId: 'u1', messageId: 'm1' }],
      verdict: 'valid',
      secret: 1,
      status: 200,
      bytes: BODY.length,
      ms: expect.any(Number),
    });
    await listen.post('no JSON', { 'X-Signature': sign(BODY, SECRET) });
    expect(await listen.nextLine()).toMatchObject({
      type: null,
      verdict: 'invalid',
      diagnosis: { code: expect.any(String), hint: expect.any(String) },
    });
    await listen.post(BODY);
    expect(await listen.nextLine()).toMatchObject({ verdict: 'unsigned' });
    expect(await listen.stop()).toMatchObject({ code: 0, signal: null });
  });

  it('reads the new and the old id of an alias, and shows the body with -v', async () => {
    const listen = await listening(['-v']);
    const alias = '{"version":1,"type":"alias","Previous ID":"old","User ID":"new"}';
    await listen.post(alias);
    expect(await listen.nextLine()).toMatchObject({
      type: 'alias',
      userId: 'new',
      verdict: 'unchecked',
      body: alias,
    });
    await listen.post(new Uint8Array([0xff, 0x00]));
    expect(await listen.nextLine()).toMatchObject({ bodyBase64: '/wA=', bytes: 2 });
  });

  it.each([
    ['HOOKS_SECRET', [], { env: { HOOKS_SECRET: SECRET } }],
    ['a second --secret', ['--secret', 'other', '--secret', SECRET], {}],
    ['standard input', ['--secret-file', '-'], { stdin: `${SECRET}\n` }],
  ])('takes the secret from %s', async (_what, args, options) => {
    const listen = await listening(args, options);
    await listen.post(BODY, { 'X-Signature': sign(BODY, SECRET) });
    expect(await listen.nextLine()).toMatchObject({ verdict: 'valid' });
  });

  it('prefers the flag to HOOKS_SECRET, and removes a final newline of a secret file', async () => {
    writeFileSync(join(folder, 'secret'), `${SECRET}\n`);
    const listen = await listening(['--secret-file', 'secret'], {
      cwd: folder,
      env: { HOOKS_SECRET: 'other' },
    });
    await listen.post(BODY, { 'X-Signature': sign(BODY, SECRET) });
    expect(await listen.nextLine()).toMatchObject({ verdict: 'valid', secret: 1 });
  });

  it('responds as --respond says', async () => {
    const listen = await listening(['--respond', '503,429@retry-after=3,reset,200']);
    expect((await listen.post(BODY)).status).toBe(503);
    expect((await listen.post(BODY)).headers.get('retry-after')).toBe('3');
    await expect(listen.post(BODY)).rejects.toThrow('fetch failed');
    const lines = [await listen.nextLine(), await listen.nextLine(), await listen.nextLine()];
    expect(lines).toMatchObject([{ status: 503 }, { status: 429 }, { status: null, answered: 'reset' }]);
  });

  it('responds with 401 to an unsigned request if a signature is required', async () => {
    const listen = await listening(['--secret', SECRET, '--require-signature']);
    expect((await listen.post(BODY)).status).toBe(401);
    expect((await listen.post(BODY, { 'X-Signature': sign(BODY, SECRET) })).status).toBe(200);
  });
});

describe('hooks listen', () => {
  it('prints the URL, a command to try, and aligned lines with the cause of an invalid signature', async () => {
    const running = startHooks(['listen', '--port', '0', '--secret', SECRET]);
    const first = await running.lines.next();
    const url = /^Listening on (http:\/\/127\.0\.0\.1:\d+)$/.exec(first.value ?? '')?.[1] ?? '';
    await fetch(`${url}/hook`, {
      method: 'POST',
      body: BODY,
      headers: { 'X-Signature': sign(BODY, SECRET) },
    });
    await fetch(`${url}/hook`, { method: 'POST', body: BODY, headers: { 'X-Signature': 'x' } });
    const [valid, invalid] = [await running.lines.next(), await running.lines.next()];
    expect(valid.value).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3}  POST \/hook +track "Signup" by u1 +valid +200 +92 B +\S+ ms$/,
    );
    expect(invalid.value?.indexOf('invalid')).toBe(valid.value?.indexOf('valid'));
    expect((await running.lines.next()).value).toMatch(/^ {4}[a-z-]+: \S/);
    expect((await running.lines.next()).value).toBe(`    expected ${sign(BODY, SECRET)}, got x`);
    const { code, stderr, stdout } = await running.stop();
    expect(code).toBe(0);
    expect(stderr).toContain(`Try: hooks send track --event Signup --url ${url} --secret-file -`);
    expect(stderr).toContain('Stopped after 2 requests: 1 valid, 1 invalid');
    expect(stdout + stderr).not.toContain(SECRET);
  });

  it.each([['text'], ['json']])('escapes the control characters of requests (%s)', async (output) => {
    const running = startHooks(['listen', '--port', '0', '-v', '-o', output]);
    const { value = '' } = await running.lines.next();
    const port = Number(/:(\d+)/.exec(value.replace('http:', ''))?.[1]);
    const evil = '\u001b[2J\u009b31m\u202e\u0007\u007f';
    const client = await RawConnection.open(port);
    client.write(rawPost(JSON.stringify({ type: 'track', event: evil, userId: evil }), [], '/%1b[2J'));
    client.write(rawPost(`raw ${evil}\r\n${evil}`, [], 'http://user:pass@a/b'));
    await client.until(/ 200 .* 200 /s);
    const { stdout, stderr } = await running.stop();
    expect(stdout).toMatch(/\\u001b\[2J/);
    expect(stdout + stderr).not.toMatch(RAW_CONTROLS);
    expect(stdout).not.toContain('pass');
  });

  it('reports connections without a valid request on stderr', async () => {
    const listen = await listening();
    const client = await RawConnection.open(listen.port);
    client.write('\u0000\u001b garbage\r\n\r\n');
    await client.closed();
    const { code, stderr, stdout } = await listen.stop();
    expect(stderr).toMatch(/^Rejected with 400: it is not HTTP\/1\.1 \(HPE_\w+\)$/m);
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(code).toBe(0);
  });

  it('prints only requests with -q', async () => {
    const listen = await listening(['-q']);
    await listen.post(BODY);
    await listen.nextLine();
    expect(await listen.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('hooks listen --save', () => {
  it('saves the exact body and masked headers of each request, readable by the owner only', async () => {
    const listen = await listening(['--save', 'kept/here', '--secret', SECRET], { cwd: folder });
    const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
    await listen.post(BODY, { Authorization: 'Basic c2VjcmV0', 'X-Signature': sign(BODY, SECRET) });
    await listen.post(body);
    const lines = [await listen.nextLine(), await listen.nextLine()];
    await listen.stop();
    const saved = join(folder, 'kept', 'here');
    const names = readdirSync(saved).toSorted();
    expect(names).toEqual([
      expect.stringMatching(/^000001-\d{8}T\d{9}Z\.json$/),
      expect.stringMatching(/^000002-/),
    ]);
    expect(lines.map(({ file }) => file)).toEqual(names.map((name) => join(saved, name)));
    expect(statSync(saved).mode & 0o777).toBe(0o700);
    expect(statSync(join(saved, names[0] ?? '')).mode & 0o777).toBe(0o600);
    const captures = names.map((name) => JSON.parse(readFileSync(join(saved, name), 'utf8')) as Capture);
    expect(captures[0]).toMatchObject({
      capture: 1,
      method: 'POST',
      url: '/hook',
      body: BODY,
      verdict: 'valid',
    });
    expect(captures[0]?.headers).toContainEqual(['Authorization', '***']);
    expect(captures[0]?.headers).toContainEqual(['X-Signature', sign(BODY, SECRET)]);
    expect(captures[1]?.bodyBase64).toBe(body.toString('base64'));
  });

  it('continues the numbers of existing captures, and does not change these captures', async () => {
    const earlier = '000041-20260101T000000000Z.json';
    writeFileSync(join(folder, earlier), 'earlier');
    const listen = await listening(['--save', folder]);
    await listen.post(BODY);
    await listen.nextLine();
    await listen.stop();
    const names = readdirSync(folder).toSorted();
    expect(names).toEqual([earlier, expect.stringMatching(/^000042-/)]);
    expect(readFileSync(join(folder, earlier), 'utf8')).toBe('earlier');
  });

  it('reports a request that cannot be saved, continues, and exits with 1', async () => {
    const kept = join(folder, 'kept');
    const listen = await listening(['--save', kept]);
    rmSync(kept, { recursive: true });
    expect((await listen.post(BODY)).status).toBe(200);
    expect(await listen.nextLine()).not.toHaveProperty('file');
    const { code, stderr } = await listen.stop();
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^error: Cannot save captures in .*\/000001-\w+\.json: there is no such folder \(--save\)$/m,
    );
  });

  it('rejects a path that is not a folder before it listens', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expectRejected(
      ['listen', '--port', '0', '--save', file],
      `error: Cannot save captures in ${file}: it exists and is not a folder (--save)`,
    );
  });
});

interface Capture {
  readonly headers: readonly (readonly [string, string])[];
  readonly bodyBase64?: string;
}

describe('hooks listen that expects requests', () => {
  it('exits with 0 as soon as --count valid requests arrive', async () => {
    const listen = await listening(['--secret', SECRET, '--count', '2', '--within', '15s']);
    await listen.post(BODY);
    for (let sent = 0; sent < 2; sent++) await listen.post(BODY, { 'X-Signature': sign(BODY, SECRET) });
    expect(await listen.exited).toMatchObject({ code: 0 });
  });

  it('counts unchecked requests if there is no secret', async () => {
    const listen = await listening(['--count', '1']);
    await listen.post(BODY);
    const { code, stderr } = await listen.exited;
    expect(code).toBe(0);
    expect(stderr).toContain('Signatures are not checked');
  });

  it('exits with 1 and counts by kind if too few valid requests arrive', async () => {
    const listen = await listening(['--secret', SECRET, '--count', '2', '--until-idle', '50ms']);
    await sendAtOnce(listen.port, rawPost(BODY, [`X-Signature: ${sign(BODY, SECRET)}`]) + rawPost(BODY));
    const { code, stderr } = await listen.exited;
    expect(code).toBe(1);
    expect(stderr).toContain('error: Expected 2 valid POSTs, got 2 requests: 1 valid, 1 unsigned');
  });

  it('exits with 1 and a hint if no request arrives', async () => {
    const { code, stderr } = await hooks(['listen', '--port', '0', '--count', '1', '--within', '20ms']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/error: Expected 1 POST, got no request\nhint: {2}post to the URL above/);
  });

  it('exits with 0 when idle if every request was valid', async () => {
    const listen = await listening(['--until-idle', '50ms']);
    await listen.post(BODY);
    expect(await listen.exited).toMatchObject({ code: 0 });
  });

  it('responds to open requests before it exits when idle', async () => {
    const listen = await listening(['--until-idle', '50ms', '--respond', '200,202@delay=300ms']);
    const client = await RawConnection.open(listen.port);
    client.write(rawPost(BODY) + rawPost(BODY));
    expect(await client.until(/ 202 /)).toContain(' 200 ');
    expect(await listen.exited).toMatchObject({ code: 0 });
  });

  it('exits with 1 when idle if a request was not valid', async () => {
    const listen = await listening(['--until-idle', '50ms', '--secret', SECRET]);
    await sendAtOnce(listen.port, rawPost(BODY, [`X-Signature: ${sign(BODY, SECRET)}`]) + rawPost(BODY));
    expect(await listen.exited).toMatchObject({ code: 1 });
  });

  it('counts a request without a response when its sender gives up', async () => {
    const listen = await listening(['--respond', 'timeout', '--count', '1', '--within', '15s']);
    const client = await RawConnection.open(listen.port);
    client.write(rawPost(BODY));
    expect((await fetch(listen.url)).status).toBe(200);
    expect(client.socket.closed).toBe(false);
    client.socket.destroy();
    expect(await listen.nextLine()).toMatchObject({ status: null, answered: 'timeout' });
    expect(await listen.exited).toMatchObject({ code: 0 });
  });
});

describe('hooks listen that cannot start', () => {
  it('prints a hint if the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    // A server on a port has an address of this kind.
    const { port } = other.address() as AddressInfo;
    const { code, stdout, stderr } = await hooks(['listen', '--port', String(port)]);
    other.close();
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      `error: Cannot listen on 127.0.0.1 port ${port}: something else is listening there\n` +
        'hint:  choose another port, or --port 0 for any free one\n',
    );
  });

  it.each([
    [['--port', '70000'], 'Expected `--port` to be 0 to 65535, got 70000'],
    [['--count', '0'], 'Expected `--count` to be a whole number from 1'],
    [['--within', '30'], 'Expected `--within` to be a time with its unit, such as 500ms, 30s or 5m, got 30'],
    [['--respond', '503,nope'], 'got `nope` (--respond, step 2, character 5)'],
    [['--require-signature'], 'Expected a secret to verify the required signatures with, got none'],
    [['--secret', ''], 'The secret is empty (from --secret)'],
    [
      ['--secret-file', 'missing'],
      'missing: the secret cannot be read: there is no such file (--secret-file)',
    ],
    [['--host', '192.0.2.1'], 'Cannot listen on 192.0.2.1 port 0'],
    [['--host', ''], 'expected an address, got an empty text'],
    [['--save', ''], 'Expected `--save` to be a non-empty text'],
    [['--cuont', '1'], 'did you mean --count?'],
    [['surplus'], 'Expected `port` to be 0 to 65535, got surplus'],
  ])('exits with 2 for %j', async (args, message) => {
    await expectRejected(['listen', '--port', '0', ...args], message, { cwd: folder });
  });
});
