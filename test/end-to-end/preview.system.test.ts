// Needs curl.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { hooks } from '../cli/run-in-process.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { headerOf, jsonLines, receiving, SECRET, track } from './receiving.ts';

const CANARY = 'CANARY-e41b7';
const MESSAGE = track(1, { event: `it's "$HOME" \`x\` \\ 東京 \u0007`, properties: { a: [1, { b: null }] } });
const SECRETS = ['--secret', SECRET, '--header', `X-Api-Key: ${CANARY} two`, '--header', 'X-Env: staging'];

/** Runs a pasted command line. */
async function sh(script: string, env: Readonly<Record<string, string>>): Promise<number> {
  const child = spawn('sh', ['-c', script], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    timeout: 10_000,
  });
  const [[code]] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return Number(code);
}

describe.skipIf(!hasTool('curl', '--version')).concurrent('--curl', () => {
  it('prints a command that sends the same body, validly signed, once the variables are set', async () => {
    const to = await receiving({ secret: SECRET });
    const url = to.url.replace('//', `//user:${CANARY}@`);
    const { code, stdout } = await hooks(argv`send --json ${MESSAGE} --url ${url}/a?b='c' ${SECRETS} --curl`);
    expect([code, stdout.includes(CANARY)]).toEqual([0, false]);
    const env = { HOOKS_X_API_KEY: `${CANARY} two`, HOOKS_AUTHORIZATION: 'Basic abc' };
    expect(await sh(stdout, env)).toBe(0);
    await hooks(argv`send --json ${MESSAGE} --url ${url}/a?b='c' ${SECRETS}`);
    const [byCurl, byHooks] = to.requests;
    expect(byCurl).toMatchObject({ verdict: 'valid', path: byHooks?.path });
    expect(to.bodies()[0]).toBe(to.bodies()[1]);
    for (const name of ['x-api-key', 'x-env', 'content-type', 'user-agent', 'x-signature']) {
      expect(byCurl && headerOf(byCurl, name)).toBe(byHooks && headerOf(byHooks, name));
    }
    expect(byCurl && headerOf(byCurl, 'authorization')).toBe('Basic abc');
  });

  it('sends the same single request as hooks, although curl would expand its words', async () => {
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

  it('sends to the same path as hooks, which posts and shows it unchanged', async () => {
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

  it('does not run a command in the name of a header', async () => {
    const to = await receiving();
    const cwd = temporaryFolder();
    const { stdout } = await hooks(
      argv`send --json ${track(1)} --url ${to.url} --header ${'X-`touch`$HOME-Token: v'} --curl`,
    );
    await sh(stdout, { HOOKS_X__TOUCH__HOME_TOKEN: 'v', HOME: cwd });
    expect(to.requests[0]?.rawHeaders).toContain('X-`touch`$HOME-Token');
  });
});
