// Needs redis-server, postgres.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openServer } from '../../../src/stores/server/open-server.ts';
import { isSameServer, type Server } from '../../../src/stores/server/server.ts';
import { until } from '../../until.ts';
import { hasServer, SERVER_KINDS, sql, startServer, type TestServer } from './servers.ts';

describe.each(SERVER_KINDS)('facts on %s', (kind) => {
  if (!hasServer(kind)) return it.skip('needs the server');
  let running: TestServer;
  let server: Server;

  beforeAll(async () => {
    running = await startServer(kind);
    server = await openServer(running.url);
  });

  afterAll(async () => {
    await server.close();
    await running.remove();
  });

  /** Stored ones, expired or not. */
  const stored = async (): Promise<readonly string[]> => {
    if (kind === 'postgres') {
      return (await sql(running.url, 'SELECT name FROM hooks.facts')).map(({ name }) => String(name));
    }
    const admin = new Redis(running.url);
    const keys = await admin.keys('hooks:*');
    admin.disconnect();
    return keys.map((key) => key.slice('hooks:'.length));
  };

  it('have the text that was put last', async () => {
    await server.facts.put([
      { name: 'a', text: '1' },
      { name: 'b', text: '' },
      { name: 'a', text: '2' },
    ]);
    await server.facts.put([{ name: 'c', text: '\ud83d\udca1' }]);
    expect(await server.facts.get(['a', 'b', 'none', 'c', 'a'])).toEqual([
      '2',
      '',
      undefined,
      '\ud83d\udca1',
      '2',
    ]);
    expect(await server.facts.get([])).toEqual([]);
    await server.facts.put([]);
  });

  it('can be put and read by thousands', async () => {
    const names = Array.from({ length: 2_500 }, (_, index) => `many-${index}`);
    await server.facts.put(names.map((name) => ({ name, text: name })));
    expect(await server.facts.get(names)).toEqual(names);
  });

  it('can be put by several processes at once, in any order', async () => {
    const facts = Array.from({ length: 50 }, (_, index) => ({ name: `same-${index}`, text: 'x' }));
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        server.facts.put(index % 2 === 0 ? facts : facts.toReversed()),
      ),
    );
    expect(await server.facts.get(['same-49'])).toEqual(['x']);
  });

  it('expire, and then free their space', async () => {
    const now = Date.now();
    await server.facts.put([
      { name: 'old', text: 'x', expiresAt: now - 1_000 },
      { name: 'young', text: 'x', expiresAt: now + 600_000 },
    ]);
    expect(await server.facts.get(['old', 'young'])).toEqual([undefined, 'x']);
    // Each process forgets with its first fact, and then once a minute.
    const other = await openServer(running.url);
    onTestFinished(() => other.close());
    await other.facts.put([{ name: 'another', text: 'x' }]);
    await until(async () => !(await stored()).includes('old'), 'the old one to be forgotten');
    expect(await stored()).toEqual(expect.arrayContaining(['young', 'another']));
  });

  it('reveal whether two URLs lead to the same server', async () => {
    const [same, another] = [await openServer(`${running.url}?x=1`), await startServer(kind)];
    const elsewhere = await openServer(another.url);
    onTestFinished(async () => {
      await Promise.all([same.close(), elsewhere.close()]);
      await another.remove();
    });
    expect([await isSameServer(server, same), await isSameServer(server, elsewhere)]).toEqual([true, false]);
  });
});
