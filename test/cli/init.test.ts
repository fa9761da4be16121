import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { jsonLines, receiving, SECRET } from '../end-to-end/receiving.ts';
import { nextJson } from '../end-to-end/running-command.ts';
import { basic } from '../service/serving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './run-in-process.ts';

const read = (cwd: string, name = '.hooksrc.yaml'): Promise<string> => readFile(join(cwd, name), 'utf8');

describe('hooks init', () => {
  it('writes a config that the next command works with', async () => {
    const cwd = temporaryFolder();
    const to = await receiving({ secret: SECRET });
    const { code, stdout, stderr } = await hooks(['init', '--url', `${to.url}/hook`, '--secret', SECRET], {
      cwd,
    });
    expect(code).toBe(0);
    expect(stdout).toBe(
      'Wrote .hooksrc.yaml\n\nTry next:\n  hooks doctor\n  hooks send track --event Signup\n',
    );
    expect(stderr).toContain('export HOOKS_SECRET=');
    expect(await read(cwd)).toMatch(/^sharedSecret: \$\{HOOKS_SECRET\}$/m);
    expect(stdout + stderr + (await read(cwd))).not.toContain(SECRET);
    expect((await stat(join(cwd, '.hooksrc.yaml'))).mode & 0o777).toBe(0o600);
    const env = { HOOKS_SECRET: SECRET };
    expect(await hooks(['send', 'track', '--event', 'Signup'], { cwd, env })).toMatchObject({ code: 0 });
    const named = await hooks(['test', '-c', '.hooksrc.yaml', '--only', 'track'], { cwd, env });
    expect(named).toMatchObject({ code: 0, stderr: '' });
    expect(to.requests).toMatchObject([1, 2].map(() => ({ path: '/hook', verdict: 'valid' })));
    // A config that is found without a flag can belong to a receiver in use.
    await expectRejected(['test', '--only', 'track'], 'or name a config with one webhook: -c .hooksrc.yaml', {
      cwd,
    });
  });

  it('lets serve reach a webhook on this machine, and no private address otherwise', async () => {
    const cwd = temporaryFolder();
    await hooks(['init', 'local.yaml', '-q'], { cwd });
    await hooks(['init', 'public.yaml', '-q', '--url', 'https://a.example/hook'], { cwd });
    expect(await read(cwd, 'local.yaml')).toMatch(/^delivery:\n(?: {2}# .*\n)+ {2}allowPrivate: true$/m);
    expect(await read(cwd, 'public.yaml')).not.toMatch(/^ *allowPrivate:/m);
  });

  it('writes a config for serve, with a new write key', async () => {
    const cwd = temporaryFolder();
    const args = ['init', '--for', 'service', '--url', 'https://a.example/hook'];
    const { stdout, stderr } = await hooks(args, { cwd });
    expect(stderr).toMatch(/^warning: the messages of this service are unsigned/);
    expect(stdout).toMatch(/\n {2}hooks serve\n$/);
    const [, key = ''] = /^writeKey: ([0-9a-f]{32})$/m.exec(await read(cwd)) ?? [];
    expect(key).not.toBe('');
    expect(await read(cwd)).toMatch(/^ {2}strategy: fallback$/m);
    const running = startHooks(['serve', '--port', '0', '-o', 'json', '--store', 'sqlite:./queue.db'], {
      cwd,
    });
    const { url } = await nextJson<{ url: string }>(running);
    const body = JSON.stringify({ userId: 'u1', event: 'Signup' });
    const call = async (user: string): Promise<number> =>
      (await fetch(`${url}/v1/track`, { method: 'POST', headers: basic(user), body })).status;
    expect([await call(key), await call('other')]).toEqual([200, 401]);
    expect((await running.stop()).code).toBe(0);
  });

  it('explains which of several URLs of a service gets which messages', async () => {
    const urls = ['--url', 'https://a.example/hook', '--url', 'https://b.example/hook'];
    const initialised = async (purpose: string): Promise<string> =>
      (await hooks(['init', '--for', purpose, ...urls], { cwd: temporaryFolder() })).stdout;
    expect(await initialised('service')).toMatch(
      /hooks serve\n\nA further URL gets only the messages [^]*two destinations/,
    );
    expect(await initialised('receiver')).not.toContain('A further URL');
  });

  it('writes a config for `hooks test` in CI, with a short retry window', async () => {
    const cwd = temporaryFolder();
    const to = await receiving({ secret: SECRET });
    const args = ['init', '--for', 'ci', '--url', `${to.url}/hook`, '--secret', SECRET];
    expect((await hooks(args, { cwd })).stdout).toContain(`\n  hooks test ${to.url}/hook\n`);
    expect(await read(cwd)).toMatch(/^ {2}retryFor: 10s$/m);
    const env = { HOOKS_SECRET: SECRET };
    expect(await hooks(['test', `${to.url}/hook`, '--only', 'track'], { cwd, env })).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(to.requests).toMatchObject([{ path: '/hook', verdict: 'valid' }]);
  });

  it('accepts URLs without --url, beside the name of a file', async () => {
    const cwd = temporaryFolder();
    const [one, other] = ['https://a.example/hook', 'https://b.example/hook'];
    await hooks(['init', '--for', 'service', one, 'two.yaml', other, '-q'], { cwd });
    expect(await readFile(join(cwd, 'two.yaml'), 'utf8')).toContain(
      `webhooks:\n  - "${one}"\n  - "${other}"\n`,
    );
    const files = ['a.yaml', one, 'b.yaml'];
    await expectRejected(['init', ...files], 'Expected one file, got a.yaml and b.yaml', { cwd });
    await expectRejected(['init', 'https://u:p@a.example'], '`--url` holds a secret', { cwd });
  });

  it('rejects any other purpose', async () => {
    const cwd = temporaryFolder();
    await expectRejected(['init', '--for', 'fun'], 'receiver, ci or service', { cwd });
    await expectRejected(['init', 'service'], 'did you mean hooks init --for service?', { cwd });
  });

  it('signs nothing without a secret', async () => {
    const cwd = temporaryFolder();
    expect(await hooks(['init', '-q'], { cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await read(cwd)).toMatch(/^# sharedSecret:/m);
    await hooks(['init', '--force'], { cwd, env: { HOOKS_SECRET: SECRET } });
    expect(await read(cwd)).toMatch(/^sharedSecret: \$\{HOOKS_SECRET\}$/m);
  });

  it('overwrites no file without --force', async () => {
    const cwd = temporaryFolder({ '.hooksrc.yaml': 'webhooks: [https://a.example]\n' });
    const refused = await hooks(['init'], { cwd });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error: There is \.hooksrc\.yaml already\nhint: .*--force/);
    expect(await read(cwd)).toBe('webhooks: [https://a.example]\n');
    expect(await hooks(['init', '--force'], { cwd })).toMatchObject({ code: 0 });
    expect(await read(cwd)).toContain('http://localhost:3000/webhook');
  });

  it('names the config that would hide the new one', async () => {
    const cwd = temporaryFolder({ '.hooksrc.json': '{}' });
    await expectRejected(['init'], 'There is a config in this folder already: .hooksrc.json', { cwd });
  });

  it('prints commands with -c for a file that hooks would not find', async () => {
    const cwd = temporaryFolder();
    const { code, stdout } = await hooks(['init', 'staging.yaml', '-o', 'json'], { cwd });
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toEqual([
      {
        file: 'staging.yaml',
        next: ['hooks doctor -c staging.yaml', 'hooks send track --event Signup -c staging.yaml'],
      },
    ]);
    expect(await hooks(['config', '-c', 'staging.yaml'], { cwd })).toMatchObject({ code: 0, stderr: '' });
  });

  it.each<[string, string[], RegExp]>([
    ['a URL with a password', ['--url', 'https://u:hunter2@a.example'], /holds a secret/],
    ['a URL with a token', ['--url', 'https://a.example/?token=hunter2'], /holds a secret/],
    [
      'a password beside a reference',
      ['--url', 'https://u:hunter2@${HOST}/hook'],
      /holds a secret.*https:\/\/\*\*\*@/,
    ],
    ['a token beside a reference', ['--url', 'https://${HOST}/?token=hunter2'], /holds a secret/],
    ['what is no URL', ['--url', 'a.example'], /Expected `--url` to be a URL/],
    ['six URLs', Array.from({ length: 6 }, () => ['--url', 'https://a.example']).flat(), /at most 5/],
    ['a file that is no YAML', ['hooks.config.js'], /ends in \.yaml/],
    ['a folder that is not there', ['no/such/.hooksrc.yaml'], /there is no such folder/],
  ])('rejects %s and writes nothing', async (_what, args, sentence) => {
    const cwd = temporaryFolder();
    const stderr = await expectRejected(['init', ...args], sentence, { cwd });
    expect(stderr).not.toContain('hunter2');
    await expect(read(cwd)).rejects.toThrow('ENOENT');
  });

  it.each([
    'https://${HOOK_USER}:${HOOK_PASSWORD}@a.example',
    'https://me:${HOOK_PASSWORD}@${HOST}/hook',
    'https://${HOST}:${PORT}/hook?token=${HOOK_TOKEN}&a=b',
    '${WEBHOOK_URL}',
  ])('keeps the references of %s', async (url) => {
    const cwd = temporaryFolder();
    expect(await hooks(['init', '--url', url], { cwd })).toMatchObject({ code: 0 });
    expect(await read(cwd)).toContain(url);
  });
});
