import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { packageVersion } from '../../src/app/version.ts';
import { hasTool } from '../external-tool.ts';
import { hooks } from './hooks.ts';
import { headerOf, jsonLines, receiving, SECRET, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';

const CANARY = 'CANARY-e41b7';
const MESSAGE = track(1, { event: `it's "$HOME" \`x\` \\ 東京 \u0007`, properties: { a: [1, { b: null }] } });
const BODY =
  '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{},"timestamp":"2026-11-20T21:10:05.123Z","messageId":"m1"}';
const SECRETS = ['--secret', SECRET, '--header', `X-Api-Key: ${CANARY} two`, '--header', 'X-Env: staging'];

/** Runs a command line as a person would who has pasted it. */
async function sh(script: string, env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn('sh', ['-c', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeout: 10_000,
  });
  const [[code]] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return Number(code);
}

describe.concurrent('--dry-run', () => {
  it('prints the request, with variables for its secrets, and sends nothing', async () => {
    const to = await receiving();
    const url = to.url.replace('//', `//user:${CANARY}@`);
    const { code, stdout, stderr } = await hooks([
      'send',
      '--json',
      track(1),
      '--url',
      url,
      ...SECRETS,
      '--dry-run',
    ]);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `POST ${to.url}/
User-Agent: hooks-cli/${packageVersion()}
Content-Type: application/json
X-Api-Key: $HOOKS_X_API_KEY
X-Env: staging
Authorization: $HOOKS_AUTHORIZATION
X-Signature: ${sign(BODY, SECRET)}

${BODY}

`,
    );
    expect(stderr).toBe(
      'note: HOOKS_X_API_KEY, HOOKS_AUTHORIZATION stand for secrets; --show-secrets prints them\n',
    );
    expect(to.requests).toEqual([]);
  });

  it('prints the secrets with --show-secrets', async () => {
    const args = ['send', '--json', track(1), '--url', `http://user:${CANARY}@127.0.0.1:9`, ...SECRETS];
    const { stdout, stderr } = await hooks([...args, '--dry-run', '--show-secrets']);
    expect(stdout).toContain(`X-Api-Key: ${CANARY} two\n`);
    expect(stdout).toContain(`Authorization: Basic ${Buffer.from(`user:${CANARY}`).toString('base64')}\n`);
    expect(stderr).toBe('');
  });

  it('is one JSON object a request with -o json, for each webhook that would be asked first', async () => {
    const cwd = temporaryFolder({ 'two.ndjson': `${track(1)}\n${track(2)}\n` });
    const { code, stdout } = await hooks(
      [
        'replay',
        'two.ndjson',
        '--url',
        'http://127.0.0.1:9',
        '--url',
        'http://127.0.0.1:10',
        '--dry-run',
        '-o',
        'json',
      ],
      { cwd },
    );
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      {
        method: 'POST',
        url: 'http://127.0.0.1:9/',
        headers: [
          ['User-Agent', expect.any(String)],
          ['Content-Type', 'application/json'],
        ],
      },
      { body: expect.stringContaining('"messageId":"m2"') as string },
    ]);
  });

  it('shows what a tracking API would get, without its write key', async () => {
    const { stdout } = await hooks([
      'send',
      '--json',
      track(1),
      '--endpoint',
      'http://127.0.0.1:9',
      '--write-key',
      CANARY,
      '--dry-run',
    ]);
    expect(stdout).toMatch(/^POST http:\/\/127\.0\.0\.1:9\/v1\/batch\n/);
    expect(stdout).toContain('Authorization: $HOOKS_AUTHORIZATION\n');
    expect(stdout).toContain('{"batch":[{"type":"track","userId":"u1","event":"Signup"');
  });

  it('escapes what a terminal would obey', async () => {
    const args = ['send', '--json', track(1, { event: 'a\u009b31m\u202eb' }), '--loopback', '--dry-run'];
    const { stdout } = await hooks(args);
    expect(stdout).toContain(String.raw`"event":"a\u009b31m\u202eb"`);
  });
});

describe.skipIf(!hasTool('curl', '--version')).concurrent('--curl', () => {
  it('prints a command that sends the same body, validly signed, once the variables are set', async () => {
    const to = await receiving({ secret: SECRET });
    const url = to.url.replace('//', `//user:${CANARY}@`);
    const { code, stdout } = await hooks([
      'send',
      '--json',
      MESSAGE,
      '--url',
      `${url}/a?b='c'`,
      ...SECRETS,
      '--curl',
    ]);
    expect([code, stdout.includes(CANARY)]).toEqual([0, false]);
    const env = { HOOKS_X_API_KEY: `${CANARY} two`, HOOKS_AUTHORIZATION: 'Basic abc' };
    expect(await sh(stdout, env)).toBe(0);
    await hooks(['send', '--json', MESSAGE, '--url', `${url}/a?b='c'`, ...SECRETS]);
    const [byCurl, byHooks] = to.requests;
    expect(byCurl).toMatchObject({ verdict: 'valid', path: byHooks?.path });
    expect(to.bodies()[0]).toBe(to.bodies()[1]);
    for (const name of ['x-api-key', 'x-env', 'content-type', 'user-agent', 'x-signature']) {
      expect(byCurl && headerOf(byCurl, name)).toBe(byHooks && headerOf(byHooks, name));
    }
    expect(byCurl && headerOf(byCurl, 'authorization')).toBe('Basic abc');
  });

  it('sends the one request that hooks sends, whatever curl would read into its words', async () => {
    const to = await receiving();
    const url = `${to.url}/x?a[]=1&b=[2-3]&c={y,z}`;
    const args = ['send', '--json', track(1), '--url', url, '--header', 'X-Empty:', '--header', 'X-List: a;'];
    const { stdout } = await hooks([...args, '--curl']);
    expect(await sh(stdout, {})).toBe(0);
    await hooks(args);
    const [byCurl, byHooks, ...more] = to.requests;
    expect(more).toEqual([]);
    expect(byCurl?.path).toBe(byHooks?.path);
    for (const name of ['x-empty', 'x-list']) {
      expect(byCurl && headerOf(byCurl, name)).toBe(byHooks && headerOf(byHooks, name));
    }
    expect(byHooks && headerOf(byHooks, 'x-empty')).toBe('');
  });

  it('goes where hooks goes, which posts and shows the path as given', async () => {
    const to = await receiving();
    const args = ['send', '--json', track(1), '--url', `${to.url}/a/../b/%2e/é`, '-o', 'json'];
    const { stdout } = await hooks([...args, '--curl']);
    expect(await sh(stdout, {})).toBe(0);
    const sent = await hooks(args);
    const path = '/a/../b/%2e/%C3%A9';
    expect(to.requests.map((request) => request.path)).toEqual([path, path]);
    expect(JSON.parse(sent.stdout)).toMatchObject({ url: to.url + path, attempts: [{ url: to.url + path }] });
    expect(jsonLines((await hooks([...args, '--dry-run'])).stdout)).toMatchObject([{ url: to.url + path }]);
  });

  it('runs nothing that a header of the user spells', async () => {
    const to = await receiving();
    const cwd = temporaryFolder();
    const args = [
      'send',
      '--json',
      track(1),
      '--url',
      to.url,
      '--header',
      'X-`touch`$HOME-Token: v',
      '--curl',
    ];
    const { stdout } = await hooks(args);
    await sh(stdout, { HOOKS_X__TOUCH__HOME_TOKEN: 'v', HOME: cwd });
    expect(to.requests[0]?.rawHeaders).toContain('X-`touch`$HOME-Token');
  });
});

it('refuses --show-secrets without a preview', async () => {
  const { code, stderr } = await hooks(['send', '--json', track(1), '--loopback', '--show-secrets']);
  expect(code).toBe(2);
  expect(stderr).toBe(
    'error: `--show-secrets` is for `--dry-run` and `--curl`\nhint:  add one of them, or leave it out\n',
  );
});
