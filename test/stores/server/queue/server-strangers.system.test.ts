// Needs redis-server, postgres.
import { createPostgresBackend, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { NO_PROGRESS, type Delivery } from '../../../../src/queue/delivery.ts';
import { openServer } from '../../../../src/stores/server/open-server.ts';
import { ServerInspection } from '../../../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../../../src/stores/server/queue/server-queue.ts';
import type { Server } from '../../../../src/stores/server/server.ts';
import { LANE, newDelivery } from '../../../queue/new-delivery.ts';
import { until } from '../../../until.ts';
import { hasServer, SERVER_KINDS, startServer, type ServerKind, type TestServer } from '../servers.ts';

const LEASE_MS = 60_000;
const DELIVERED = { state: 'delivered', progress: NO_PROGRESS } as const;
/** What SQL, Lua, globs or a replacement of text could take for their own. */
const ODD = `$1 $2 $& $' '' ' "; \\ \\' %s * ? [a-z] {} -- /* KEYS[1] ]] \u2028 é`;

// One after the other: they change the clock.
describe.each(SERVER_KINDS)('foreign input of a queue on %s', (kind) => {
  if (!hasServer(kind)) return it.skip('needs the server');
  let running: TestServer;
  let server: Server;
  let queue: ServerQueue;

  beforeAll(async () => {
    running = await startServer(kind);
    server = await openServer(running.url);
  });

  beforeEach(async () => {
    await running.empty();
    queue = open(server);
  });

  afterAll(async () => {
    await server.close();
    await running.remove();
  });

  it('is stored as data: ids, order keys and the words of a receiver', async () => {
    const lane = { source: `web'${ODD}`, destination: ODD };
    const names = ['a', 'b', 'c'].map((each) => `${each}${ODD}`);
    const all = names.map((id) => newDelivery(id, { ...lane, orderKeys: [ODD, `${ODD}2`], type: ODD }));
    await queue.add(all);
    const inspection = new ServerInspection({ server, clock: systemClock });
    const claimed = await claimOne(queue, lane);
    const record = {
      at: 1,
      url: ODD,
      round: 1,
      result: 'rejected',
      status: 400,
      detail: ODD,
      ms: 1,
    } as const;
    const progress = { ...NO_PROGRESS, rounds: 1, attempts: [record], notBefore: { [ODD]: 5 } };
    expect(await queue.settle(claimed, { state: 'dead', reason: 'rejected', progress })).toBe(true);
    expect(await inspection.retry(names.slice(0, 1))).toEqual(['retried']);
    const second = await claimOne(queue, lane);
    expect(second.delivery.id).toBe(names[1]);
    expect(await queue.settle(second, { state: 'retrying', dueAt: Date.now() + 60_000, progress })).toBe(
      true,
    );
    expect(await inspection.makeDue(names.slice(1, 2))).toEqual(['due']);
    const again = await claimOne(queue, lane);
    expect(again.delivery).toMatchObject({ id: names[1], progress: { attempts: [record], notBefore: {} } });
    await queue.settle(again, DELIVERED);
    expect(await inspection.drop(names.slice(2))).toEqual(['dropped']);
    const last = await claimOne(queue, lane);
    expect(last.delivery).toMatchObject({ id: names[0], progress: { attempts: [record] } });
  });

  it('includes its clock: a process whose clock is ahead takes no claims from others, and does not block them', async () => {
    await queue.add([newDelivery('held')]);
    const claim = await claimOne(queue);
    const clock = { ...systemClock, now: () => Date.now() };
    const ahead = new ServerQueue({ server, clock, recoverMs: 1 });
    const now = Date.now.bind(Date);
    const skewed = vi.spyOn(Date, 'now').mockImplementation(() => now() + 3_600_000);
    onTestFinished(() => {
      skewed.mockRestore();
    });
    for (let look = 0; look < 4; look++) {
      expect((await ahead.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS })).claims).toEqual([]);
    }
    await ahead.add([newDelivery('left')]);
    // A lock that is short for all.
    const [left] = (await ahead.claim({ ...LANE, limit: 1, leaseMs: 300 })).claims;
    expect(left?.delivery.id).toBe('left');
    skewed.mockRestore();
    const taken: string[] = [];
    await until(async () => {
      const { claims } = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
      taken.push(...claims.map(({ delivery }) => delivery.id));
      return taken.length > 0;
    }, 'what the other one left');
    expect(taken).toEqual(['left']);
    expect(await queue.settle(claim, DELIVERED)).toBe(true);
  });

  it('includes the pause of a person: nothing is claimed until the queue is resumed', async () => {
    const person = personOn(running, kind);
    onTestFinished(() => person.close());
    await person.queue.pause();
    await queue.add([newDelivery('paused')]);
    expect((await queue.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS })).claims).toEqual([]);
    const inspection = new ServerInspection({ server, clock: systemClock });
    expect(await inspection.stats()).toMatchObject([{ pending: 1 }]);
    await person.queue.resume();
    expect((await claimOne(queue)).delivery.id).toBe('paused');
  });

  const limited = kind === 'redis' ? 'does not include' : 'includes';
  it(`${limited} the concurrency and the rate limit of a person`, async () => {
    const person = personOn(running, kind);
    onTestFinished(() => person.close());
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const claimed = async (): Promise<readonly string[]> => {
      const { claims } = await queue.claim({ ...LANE, limit: 2, leaseMs: LEASE_MS });
      return claims.map(({ delivery }) => delivery.id);
    };
    await queue.add(ids.map((id) => newDelivery(id)));
    await person.queue.setGlobalConcurrency(1);
    const first = await claimed();
    await person.queue.removeGlobalConcurrency();
    await person.queue.setGlobalRateLimit(1, 60_000);
    const second = await claimed();
    expect([first.length, second.length]).toEqual(kind === 'redis' ? [2, 2] : [1, 1]);
  });

  const onlyOn = (only: typeof kind): typeof it | undefined => (only === kind ? it : undefined);

  onlyOn('redis')?.('is whether a person deletes a key: what is behind it is taken at once', async () => {
    await queue.add([newDelivery('deleted'), newDelivery('kept')]);
    const admin = new Redis(running.url);
    onTestFinished(() => admin.disconnect());
    await admin.del(...(await admin.keys('bull:*d-deleted')));
    const { claims } = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual(['kept']);
    expect(await admin.keys('bull:*d-deleted*')).toEqual([]);
    expect(await server.series('hooks/web/Webhooks').ids('active', 0, -1)).toEqual(['d-kept']);
  });

  onlyOn('postgres')?.('is how a database isolates transactions', async () => {
    const admin = new Client({ connectionString: running.url });
    await admin.connect();
    onTestFinished(() => admin.end());
    const { rows } = await admin.query<{ name: string }>('SELECT current_database() AS name');
    const name = `"${rows[0]?.name}"`;
    await admin.query(`ALTER DATABASE ${name} SET default_transaction_isolation TO 'serializable'`);
    onTestFinished(async () => {
      await admin.query(`ALTER DATABASE ${name} RESET default_transaction_isolation`);
    });
    const servers = await Promise.all([openServer(running.url), openServer(running.url)]);
    onTestFinished(async () => {
      for (const each of servers) await each.close();
    });
    const queues = servers.map((each) => open(each));
    const ids = Array.from({ length: 60 }, (_, index) => `s${index}`);
    const adding = queues.map(async (each, side) => {
      for (const id of ids.filter((_, index) => index % 2 === side)) await each.add([inTwoLines(id)]);
    });
    const delivered: string[] = [];
    const delivering = queues.map((each) =>
      until(
        async () => {
          const { claims } = await each.claim({ ...LANE, limit: 5, leaseMs: LEASE_MS });
          for (const claim of claims) {
            expect(await each.settle(claim, DELIVERED)).toBe(true);
            delivered.push(claim.delivery.id);
          }
          return delivered.length === ids.length;
        },
        'all to be delivered',
        { seconds: 30 },
      ),
    );
    await Promise.all([...adding, ...delivering]);
    expect(new Set(delivered).size).toBe(ids.length);
  });
});

type Limited = Pick<
  Queue,
  'pause' | 'resume' | 'setGlobalConcurrency' | 'removeGlobalConcurrency' | 'setGlobalRateLimit'
>;

/** The queue of LANE as BullMQ's tools open it. */
function personOn({ url }: TestServer, kind: ServerKind): { queue: Limited; close: () => Promise<void> } {
  const name = `hooks/${LANE.source}/${LANE.destination}`;
  if (kind === 'redis') {
    const connection = new Redis(url, { maxRetriesPerRequest: null });
    const queue = new Queue(name, { connection });
    const close = async (): Promise<void> => {
      await queue.close();
      connection.disconnect();
    };
    return { queue, close };
  }
  const connection = { connectionString: url, options: '-c search_path=bullmq' };
  const queue = new Queue(name, { connection }, createPostgresBackend);
  return { queue, close: () => queue.close() };
}

function inTwoLines(id: string): Delivery {
  return newDelivery(id, { orderKeys: ['one', 'two'] });
}

function open(server: Server): ServerQueue {
  return new ServerQueue({ server, clock: systemClock, recoverMs: 50 });
}

async function claimOne(
  queue: ServerQueue,
  lane = LANE,
): Promise<Awaited<ReturnType<ServerQueue['claim']>>['claims'][number]> {
  const { claims } = await queue.claim({ ...lane, limit: 5, leaseMs: LEASE_MS });
  expect(claims).toHaveLength(1);
  const [claim] = claims;
  if (claim === undefined) throw new Error('nothing was claimed');
  return claim;
}
