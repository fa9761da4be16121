import { linkSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hooks, type HooksResult } from '../end-to-end/hooks.ts';
import { hasServer, startServer, type ServerKind } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const CONFIG = { '.hooksrc.yaml': 'webhooks: [http://127.0.0.1:9/]\nsharedSecret: s\n' };

/** Hands a store some messages. The function moves them between two stores. */
async function filled(store: string): Promise<(from: string, to: string) => Promise<HooksResult>> {
  const cwd = temporaryFolder(CONFIG);
  const stdin = ['a', 'b'].map((event) => JSON.stringify({ type: 'track', event, userId: 'u' })).join('\n');
  const run = (...args: readonly string[]): Promise<HooksResult> => hooks(args, { cwd, stdin });
  expect(await run('replay', '-', '--queue', '-q', '--store', store)).toMatchObject({ code: 0 });
  return (from, to) => run('queue', 'move', '--store', from, '--to', to);
}

async function expectKept(store: string, { code, stderr }: HooksResult): Promise<void> {
  expect([code, stderr]).toEqual([2, expect.stringContaining('Expected `--to` to be another store')]);
  expect(await pendingIn(store)).toBe(2);
}

async function pendingIn(store: string): Promise<unknown> {
  const { stdout } = await hooks(['queue', 'stats', '-o', 'json', '--store', store], {
    cwd: temporaryFolder(),
  });
  const { total } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as { total: { pending: unknown } }; // as cli.md says
  return total.pending;
}

async function started(kind: ServerKind): Promise<string> {
  const server = await startServer(kind);
  onTestFinished(() => server.remove());
  return server.url;
}

/** Ms. Each test starts a server and up to seven commands, which a busy disk holds up. */
const LONGEST = 120_000;

describe('queue move', { timeout: LONGEST }, () => {
  it('refuses the same file by another name, and keeps what is in it', async () => {
    const folder = temporaryFolder();
    const [file, other] = [join(folder, 'real/a.db'), join(folder, 'link/a.db')];
    mkdirSync(join(folder, 'real'), { mode: 0o700 });
    symlinkSync('real', join(folder, 'link'));
    const move = await filled(file);
    await expectKept(file, await move(file, other));
    linkSync(file, join(folder, 'hard.db'));
    await expectKept(file, await move(`sqlite:${other}`, join(folder, 'hard.db')));
  });

  it.skipIf(!hasServer('redis'))('refuses the same Redis database by another name', async () => {
    const url = await started('redis');
    const move = await filled(url);
    await expectKept(url, await move(url, url.replace(/\/0$/, '')));
    await expectKept(url, await move(url.replace('127.0.0.1', 'localhost'), url));
    await expectKept(url, await move(url, url.replace('redis:', 'REDIS:')));
  });

  it.skipIf(!hasServer('redis'))('moves to another database of the same Redis', async () => {
    const url = (await started('redis')).replace(/\/0$/, '?db=');
    const move = await filled(`${url}1`);
    expect(await move(`${url}1`, `${url}2`)).toMatchObject({ code: 0 });
    expect([await pendingIn(`${url}1`), await pendingIn(`${url}2`)]).toEqual([0, 2]);
  });

  it.skipIf(!hasServer('postgres'))('refuses the same PostgreSQL database by another name', async () => {
    const url = await started('postgres');
    const move = await filled(url);
    await expectKept(url, await move(url, url.replace('postgres:', 'postgresql:')));
    await expectKept(url, await move(url.replace('postgres:', 'POSTGRES:'), url));
  });
});
