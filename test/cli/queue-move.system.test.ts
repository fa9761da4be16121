// Needs redis-server, postgres.
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasServer, startServer, type ServerKind } from '../stores/server/servers.ts';
import { expectKept, filled, pendingIn } from './filled-store.ts';

async function started(kind: ServerKind): Promise<string> {
  const server = await startServer(kind);
  onTestFinished(() => server.remove());
  return server.url;
}

/** Timeout in ms. Each test starts a server and up to seven commands, which are slow on a busy disk. */
const LONGEST = 120_000;

describe('queue move', { timeout: LONGEST }, () => {
  it.skipIf(!hasServer('redis'))('rejects the same Redis database by another name', async () => {
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

  it.skipIf(!hasServer('postgres'))('rejects the same PostgreSQL database by another name', async () => {
    const url = await started('postgres');
    const move = await filled(url);
    await expectKept(url, await move(url, url.replace('postgres:', 'postgresql:')));
    await expectKept(url, await move(url.replace('postgres:', 'POSTGRES:'), url));
  });
});
