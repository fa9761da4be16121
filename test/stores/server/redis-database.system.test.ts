// Needs redis-server.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { until } from '../../until.ts';
import { CANARY, hasServer, startServer, type TestServer } from './servers.ts';

const ENTRY = { series: 'hooks-test', name: 'n', text: '{}', addedAt: 1 };

describe.skipIf(!hasServer('redis'))('the database of a Redis', () => {
  let running: TestServer;
  let admin: Redis;

  beforeAll(async () => {
    running = await startServer('redis');
    admin = new Redis(running.url);
  });

  afterAll(async () => {
    admin.disconnect();
    await running.remove();
  });

  const urlOf = (database: string, user = ''): string =>
    running.url.replace(/\/\/:(.*)\/0$/, `//${user}:$1/${database}`);

  it('is never replaced by another when it does not exist', async () => {
    await expect(openServer(urlOf('99'))).rejects.toMatchObject({
      message: expect.stringMatching(/\/99 has no such database$/),
      hint: expect.stringContaining('name another one in `store`'),
    });
  });

  it('is never replaced by another when the user may not select it, now or after a lost connection', async () => {
    const rights = ['on', `>${CANARY}`, 'allkeys', 'allchannels', '+@all'];
    await admin.acl('SETUSER', 'worker', ...rights, '-select');
    await expect(openServer(urlOf('3', 'worker'))).rejects.toThrow(
      /does not allow its user to run a command, or to use a key$/,
    );

    await admin.acl('SETUSER', 'worker', '+select');
    const server = await openServer(urlOf('3', 'worker'));
    onTestFinished(() => server.close());
    const isTaken = (id: string): Promise<boolean> =>
      server.add([{ ...ENTRY, id }]).then(
        () => true,
        () => false,
      );
    expect(await isTaken('before')).toBe(true);
    await admin.acl('SETUSER', 'worker', '-select');
    const refused = await refusals(admin);
    await admin.client('KILL', 'USER', 'worker');
    await until(async () => !(await isTaken('without')), 'the connection to be lost');
    await until(async () => (await refusals(admin)) > refused, 'a reconnection to be refused');
    expect(await isTaken('refused')).toBe(false);
    await admin.acl('SETUSER', 'worker', '+select');
    await until(() => isTaken('after'), 'the store to be well again');
    expect(await server.series(ENTRY.series).ids('waiting', 0, -1)).toEqual(
      expect.arrayContaining(['before', 'after']),
    );
    expect(await admin.dbsize()).toBe(0);
  });
});

describe.skipIf(!hasServer('redis'))('a Redis that evicts deliveries', () => {
  it('is reported by warnings only', async () => {
    const running = await startServer('redis');
    const admin = new Redis(running.url);
    const server = await openServer(running.url);
    const said = vi.spyOn(console, 'warn');
    onTestFinished(async () => {
      said.mockRestore();
      admin.disconnect();
      await server.close();
      await running.remove();
    });
    await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
    await server.add([{ ...ENTRY, id: 'a' }]);
    expect(await server.series(ENTRY.series).ids('waiting', 0, -1)).toEqual(['a']);
    expect(said).not.toHaveBeenCalled();
    expect(await server.warnings()).toEqual([expect.stringContaining('set `maxmemory-policy noeviction`')]);
  });
});

/** How often somebody was not allowed something. */
async function refusals(admin: Redis): Promise<number> {
  const stats = await admin.info('errorstats');
  return Number(/errorstat_NOPERM:count=(\d+)/.exec(stats)?.[1] ?? 0);
}
