// Needs redis-server, postgres.
import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import { ClosedError, ConfigError, QueueError } from '../../../src/errors.ts';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { assertBullmqVersion, loadPackages } from '../../../src/stores/server/packages.ts';
import type { Series, Server } from '../../../src/stores/server/server.ts';
import { until } from '../../until.ts';
import { commandsDuring } from './command-stats.ts';
import { linkTo, type Link } from './link.ts';
import { CANARY, hasServer, SERVER_KINDS, startServer, type TestServer } from './servers.ts';

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`a store on ${kind}`, () => {
    let running: TestServer;
    let link: Link;
    let server: Server;
    /** For what never responds. A server that is well may take longer on a busy machine. */
    let hurried: Server;

    beforeAll(async () => {
      running = await startServer(kind);
      link = await linkTo(running.url);
      server = await openServer(link.url);
      hurried = await openServer(link.url, { responseMs: 2_000 });
      for (const each of [server, hurried]) await each.check();
    });

    afterAll(async () => {
      await Promise.all([server.close(), hurried.close()]);
      await link.close();
      await running.remove();
    });

    const untilWell = async (): Promise<void> => {
      for (const each of [server, hurried]) {
        await until(() => isWell(each), 'the store to be well again', { seconds: 20 });
      }
    };

    /** Of three entries, d-0 to d-2, each with a token of its own. */
    const takenFrom = async (name: string): Promise<Series> => {
      const entry = { series: name, name: 'n', text: '{}', addedAt: 1 };
      await server.add([0, 1, 2].map((number) => ({ ...entry, id: `d-${number}` })));
      expect((await server.series(name).take(['t0', 't1', 't2'], 60_000)).taken).toHaveLength(3);
      return server.series(name);
    };

    it('reports a lost server at once, and continues by itself when it is back', async () => {
      await running.kill();
      expect(await trouble(() => server.check())).toMatch(/cannot be reached/);
      expect(await trouble(() => server.series('hooks-new').take(['t'], 1_000))).toMatch(/cannot be reached/);
      expect(await trouble(() => openServer(link.url))).toMatch(/cannot be reached/);
      await running.start();
      await untilWell();
      // What was first used while it was gone.
      expect(await server.series('hooks-new').take(['t'], 1_000)).toMatchObject({ taken: [] });
    }, 60_000);

    it('does not wait longer than the timeout for a server that hangs', async () => {
      running.pause();
      try {
        expect(await trouble(() => hurried.check())).toMatch(/does not respond in time/);
      } finally {
        running.resume();
      }
      await untilWell();
    }, 60_000);

    if (kind === 'redis') {
      it('adds all or nothing when its memory is full, and reports that it is full', async () => {
        const admin = new Redis(running.url);
        try {
          await admin.config('SET', 'maxmemory', '1');
          const entries = ['a', 'b'].map((id) => ({
            series: 'hooks-full',
            id: `d-${id}`,
            lines: ['line'],
            name: 'n',
            text: '{}',
            addedAt: 1,
          }));
          expect(await trouble(() => server.add(entries))).toMatch(/is full/);
          await admin.config('SET', 'maxmemory', '0');
          expect(await server.series('hooks-full').count(['waiting'])).toEqual([0]);
          expect(await admin.keys('hooks:line:*')).toEqual([]);
          const isAdded = (): Promise<boolean> =>
            server.add(entries).then(
              () => true,
              () => false,
            );
          await until(isAdded, 'the server to take more again');
          expect(await server.series('hooks-full').count(['waiting', 'delayed'])).toEqual([1, 1]);
        } finally {
          await admin.config('SET', 'maxmemory', '0');
          admin.disconnect();
        }
      });

      it('settles the entries of one turn in one script, even if one entry is broken', async () => {
        const series = await takenFrom('hooks-broken');
        const admin = new Redis(running.url);
        await admin.set('bull:hooks-broken:d-1', 'of another type');
        const settle = (_: unknown, index: number): Promise<boolean> =>
          series.settle({ id: `d-${index}`, token: `t${index}` }, { note: '{}' });
        let settled: PromiseSettledResult<boolean>[] = [];
        const commands = await commandsDuring(admin, async () => {
          settled = await Promise.allSettled(Array.from({ length: 3 }, settle));
        });
        admin.disconnect();
        expect(settled).toMatchObject([
          { value: true },
          { reason: { message: expect.stringContaining('WRONGTYPE') as string } },
          { value: true },
        ]);
        expect((commands.get('evalsha') ?? 0) + (commands.get('eval') ?? 0)).toBeLessThanOrEqual(2);
      });
    }

    it('settles the entries of one turn together, and an entry with a lost lock alone', async () => {
      const series = await takenFrom('hooks-turn');
      const settled = ['t0', 'other', 't2'].map((token, index) =>
        series.settle({ id: `d-${index}`, token }, { note: '{}' }),
      );
      expect(await Promise.all(settled)).toEqual([true, false, true]);
      expect(await series.ids('active', 0, -1)).toEqual(['d-1']);
    });

    it('survives a connection that is cut, and one that swallows everything', async () => {
      link.cut();
      await trouble(() => hurried.check());
      link.mend();
      await untilWell();
      link.stall();
      await trouble(() => hurried.check());
      link.mend();
      await untilWell();
    }, 100_000);

    it('adds all entries or none', async () => {
      const entry = { series: 'hooks-test', name: 'n', text: '{}', addedAt: 1 };
      await server.add([
        { ...entry, id: 'a' },
        { ...entry, series: 'hooks-test2', id: 'b' },
      ]);
      expect(await server.series('hooks-test').ids('waiting', 0, -1)).toEqual(['a']);
      expect(await server.series('hooks-test2').ids('waiting', 0, -1)).toEqual(['b']);
    });

    it('keeps characters that the JSON of the database cannot store', async () => {
      const text = JSON.stringify({ body: 'nul \u0000 and half a pair \ud83d' });
      const name = 'nul \u0000 and half a pair \ud83d';
      await server.add([{ series: 'hooks-odd', id: 'odd', name, text, addedAt: 1 }]);
      const { taken } = await server.series('hooks-odd').take(['t', 't2'], 10_000);
      expect(taken).toHaveLength(1);
      expect(taken[0]?.entry.text).toBe(text);
      const note = JSON.stringify({ detail: '\u0000 \ud83d' });
      const lock = { id: 'odd', token: 't' };
      expect(await server.series('hooks-odd').extend([{ ...lock, note }], 10_000)).toEqual([]);
      expect((await server.series('hooks-odd').get(['odd']))[0]?.note).toBe(note);
      expect(await server.series('hooks-odd').settle(lock, { note, reason: 'rejected' })).toBe(true);
      expect((await server.series('hooks-odd').get(['odd']))[0]).toMatchObject({ note, reason: 'rejected' });
      expect(await server.series('hooks-odd').settle(lock, { note })).toBe(false);
    });

    it('has no warnings when it is set up well', async () => {
      expect(await server.warnings()).toEqual([]);
    });

    it('rejects everything after it is closed', async () => {
      const other = await openServer(running.url);
      await other.close();
      await expect(other.check()).rejects.toThrow(ClosedError);
    });

    it('rejects a wrong password, if the server has one, without showing it', async () => {
      if (kind === 'postgres') return; // it is set up to trust everybody
      const wrong = running.url.replace(CANARY, `wrong-${CANARY}`);
      expect(await trouble(() => openServer(wrong))).toMatch(/rejects the user or password/);
    });
  });
}

describe('the version of BullMQ', () => {
  it('must be in the range that package.json and the docs name', () => {
    for (const version of [undefined, '6.3.0', '6.7.99']) assertBullmqVersion(version);
    const packageJson = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
    const { bullmq } = (JSON.parse(packageJson) as { peerDependencies: Record<string, string> })
      .peerDependencies; // as npm reads it
    for (const version of ['5.70.0', '6.2.2', '6.8.0', '7.0.0']) {
      expect(() => assertBullmqVersion(version)).toThrow(`Expected bullmq ${bullmq}, got ${version}`);
    }
    const docs = readFileSync(new URL('../../../docs/several-machines.md', import.meta.url), 'utf8');
    expect(docs.split(`npm install "bullmq@${bullmq}"`)).toHaveLength(3);
  });
});

describe('packages that are not installed', () => {
  it('are named with the command that installs them', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const loading = loadPackages('redis://host', ['ioredis', 'bullmq'], () => Promise.reject(missing));
    await expect(loading).rejects.toThrow(ConfigError);
    await expect(loading).rejects.toMatchObject({
      message: 'The store redis://host needs packages that are not installed: ioredis, bullmq',
      hint: expect.stringContaining('npm install ioredis@6 "bullmq@>=6.3 <6.8"'),
    });
  });
});

async function isWell(server: Server): Promise<boolean> {
  try {
    await server.check();
    return (await server.series('hooks-test').get(['nobody']))[0] === undefined;
  } catch {
    return false;
  }
}

/** What is told while it is away. Its sentence names the store, and nowhere is the password. */
async function trouble(act: () => Promise<unknown>): Promise<string> {
  const error: unknown = await act().catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(QueueError);
  expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(CANARY);
  const { message } = error as QueueError; // as expected above
  expect(message).toMatch(/^The queue at (?:redis|postgres):\/\/\*\*\*@127/);
  return message;
}
