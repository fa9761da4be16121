import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SharedClock } from '../../src/clock.ts';
import { QueueError } from '../../src/errors.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import type { OpenQueue } from '../../src/stores/opened-queue.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  basic,
  closeAfterEach,
  serving,
  sorted,
  until,
  WRITE_KEY,
  type Serving,
  type ServingOptions,
} from './serving.ts';

closeAfterEach();

async function look({ url }: Serving, id: unknown, headers = basic(WRITE_KEY)): Promise<Response> {
  return fetch(`${url}/v1/deletions/${String(id)}`, { headers });
}

/** The log lines about deletion after the start of a service. */
async function linesOf(options: ServingOptions): Promise<unknown[]> {
  return (await serving(options)).log.filter(({ msg }) => String(msg).includes('deletion'));
}

describe('POST /v1/deletions', () => {
  it('goes to the source of its key only and records the state', async () => {
    const serve = await serving();
    const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1', 'u2'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, users: 2, sources: { web: { state: 'pending' } } });
    await until(() => serve.log.filter(({ msg }) => msg === 'delivered').length === 2, 'all to be recorded');
    expect(sorted(serve.received, 'userId')).toEqual(['u1', 'u2']);
    const found = (await (await look(serve, body['id'])).json()) as { sources: object };
    expect(found.sources).toEqual({ web: { state: 'delivered', deliveries: 2, delivered: 2, failed: 0 } });
    expect((await look(serve, body['id'], basic('wk-of-the-other'))).status).toBe(404);
  });

  it('goes to every source if it names none and keys reach all', async () => {
    const serve = await serving({ deletionReach: 'all' });
    const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1', 'u2'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, users: 2, sources: { app: { state: 'no-destination' } } });
    await until(() => serve.received.length === 4, 'two users at two sources');
    expect(sorted(serve.received, 'type')).toEqual(['delete', 'delete', 'delete', 'delete']);
    expect(sorted(serve.received, 'userId')).toEqual(['u1', 'u1', 'u2', 'u2']);
    await until(() => serve.log.filter(({ msg }) => msg === 'delivered').length === 4, 'all to be recorded');
    const found = (await (await look(serve, body['id'])).json()) as object;
    expect(found).toMatchObject({
      id: body['id'],
      sources: { web: { state: 'delivered', deliveries: 2, delivered: 2 }, other: { state: 'delivered' } },
    });
  });

  it('is rejected for other sources, known or unknown', async () => {
    const serve = await serving();
    for (const sources of [['other'], ['web', 'other'], ['nowhere']]) {
      const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1'], sources });
      expect([status, body['code']]).toEqual([403, 'forbidden']);
    }
    expect(serve.added).toEqual([]);
    expect((await serve.post('/v1/deletions', { userIds: ['u1'], sources: ['web'] })).status).toBe(200);
  });

  it('goes to the named sources only', async () => {
    const serve = await serving({ deliver: false, deletionReach: 'all' });
    await serve.post('/v1/deletions', { userIds: ['u1'], sources: ['other'], writeKey: WRITE_KEY }, {});
    expect(serve.added.map(({ source, destination }) => [source, destination])).toEqual([
      ['other', 'Elsewhere'],
    ]);
  });

  it('may have at most 10,000 deliveries over all its sources', async () => {
    const serve = await serving({ deliver: false, deletionReach: 'all' });
    const userIds = Array.from({ length: 5_001 }, (_, index) => `u${index}`);
    const { status, body } = await serve.post('/v1/deletions', { userIds });
    expect([status, body]).toEqual([
      413,
      {
        success: false,
        code: 'too-large',
        message: 'Expected user ids times destinations to be at most 10,000, got 10,002',
        hint: 'send the user ids in several requests',
      },
    ]);
    expect(serve.added).toEqual([]);
    expect((await serve.post('/v1/deletions', { userIds, sources: ['web', 'app'] })).status).toBe(200);
    expect((await serve.post('/v1/deletions', { userIds: userIds.slice(1) })).status).toBe(200);
    expect(serve.added).toHaveLength(5_001 + 10_000);
  });

  it('is rejected without a key, if malformed, or for an unknown source', async () => {
    const serve = await serving({ deletionReach: 'all' });
    const statusOf = async (body: unknown, headers?: Record<string, string>): Promise<number> =>
      (await serve.post('/v1/deletions', body, headers)).status;
    expect(await statusOf({ userIds: ['u'] }, {})).toBe(401);
    expect(await statusOf({ userIds: ['u'] }, basic('wrong'))).toBe(401);
    expect(await statusOf('{"userIds":')).toBe(400);
    expect(await statusOf({ userIds: [] })).toBe(400);
    expect(await statusOf({ userIds: ['u'], source: 'web' })).toBe(400);
    expect(await statusOf({ userIds: ['u'], sources: ['nowhere'] })).toBe(400);
    expect(serve.added).toEqual([]);
    expect((await look(serve, 'nothing')).status).toBe(404);
    expect((await look(serve, 'nothing', {})).status).toBe(401);
  });

  it('lists the sources that it reached', async () => {
    for (const [deletionReach, names] of [
      ['own', ['web']],
      ['all', ['web', 'app', 'other']],
    ] as const) {
      const serve = await serving({ deliver: false, deletionReach });
      const { body } = await serve.post('/v1/deletions', { userIds: ['u1'] });
      expect(Object.keys(body['sources'] as object)).toEqual(names);
    }
  });

  it('is explained in the log at the start if there are several sources', async () => {
    expect(await linesOf({})).toMatchObject([
      {
        level: 'info',
        msg: 'a write key may ask for deletion at its own source only; --deletions all lets it reach every source',
        sources: 3,
      },
    ]);
    expect(await linesOf({ deletionReach: 'all' })).toMatchObject([
      {
        level: 'warn',
        msg: 'any write key may ask for deletion at every source (--deletions all)',
        sources: 3,
      },
    ]);
    expect(await linesOf({ sources: { web: { writeKey: WRITE_KEY, destinations: {} } } })).toEqual([]);
  });

  it('gets 503 if it cannot be stored', async () => {
    const serve = await serving({ add: () => Promise.reject(new QueueError('the disk is full')) });
    expect((await serve.post('/v1/deletions', { userIds: ['u'] })).status).toBe(503);
  });
});

/**
 * The longest turn of the event loop during the work, in ms of processor time, because on a busy machine wall time includes
 * other programs.
 */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, processorMs(), false];
  const turn = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return longest;
}

function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

const QUEUES: Readonly<Record<string, () => Promise<OpenQueue | undefined>>> = {
  memory: async () => undefined,
  'a file': () =>
    openDurableQueue({
      store: join(temporaryFolder(), 'hooks.db'),
      dataDir: '/nonexistent',
      clock: new SharedClock(),
    }),
};

const LONGEST_HOLD_MS = 50;

describe.each(Object.entries(QUEUES))('a deletion request of 10,000 users over %s', (_, openQueue) => {
  it('does not block other requests while it is stored', async () => {
    const open = await openQueue();
    const serve = await serving({ deliver: false, logLevel: 'error', change: (memory) => open ?? memory });
    let leastMs = Infinity;
    // The minimum of several runs, because compilation and garbage collection slow some of them.
    for (let run = 0; run < 6 && leastMs >= LONGEST_HOLD_MS; run++) {
      const userIds = Array.from({ length: 10_000 }, (_each, index) => `${'u'.repeat(35)}${index}`);
      const text = JSON.stringify({ userIds });
      const hold = await longestHold(async () => {
        const { status, body } = await serve.post('/v1/deletions', text);
        expect([status, body]).toMatchObject([
          200,
          { users: 10_000, sources: { web: { deliveries: 10_000 } } },
        ]);
      });
      leastMs = Math.min(leastMs, hold);
    }
    expect(leastMs).toBeLessThan(LONGEST_HOLD_MS);
  });

  it('is recorded completely', async () => {
    const open = await openQueue();
    const serve = await serving({ deliver: false, logLevel: 'error', change: (memory) => open ?? memory });
    const userIds = Array.from({ length: 1_001 }, (_each, index) => `u${index}`);
    const { body } = await serve.post('/v1/deletions', { userIds });
    const found = (await (await look(serve, body['id'])).json()) as object;
    expect(found).toMatchObject({ users: 1_001, sources: { web: { state: 'pending', deliveries: 1_001 } } });
  });
});

describe('a deletion request that cannot be stored completely', () => {
  it('gets 503 and is recorded with its stored deliveries', async () => {
    let adds = 0;
    const serve = await serving({
      deliver: false,
      add: async (deliveries, queue) => {
        if (++adds === 3) throw new QueueError('the disk is full');
        await queue.add(deliveries);
      },
    });
    const userIds = Array.from({ length: 1_000 }, (_, index) => `u${index}`);
    expect((await serve.post('/v1/deletions', { userIds })).status).toBe(503);
    const [first] = serve.added;
    const id = /^deletion-(.+)-0$/.exec(first?.messageId ?? '')?.[1];
    expect(await (await look(serve, id)).json()).toMatchObject({ sources: { web: { deliveries: 500 } } });
    expect(serve.added).toHaveLength(500);
  });
});
