// Needs redis-server.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ServerDeletionStore } from '../../src/stores/server/server-deletion-store.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import { moveDeliveries } from '../../src/queue/move.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { ServerSeen } from '../../src/stores/server/server-seen.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import type { Server } from '../../src/stores/server/server.ts';
import { commandLinesDuring, commandsDuring } from '../stores/server/command-stats.ts';
import { hasServer, startServer, type TestServer } from '../stores/server/servers.ts';
import { LANE, newDelivery } from './new-delivery.ts';

const DELIVERIES = 20;
const BACKLOG = 3_000;
const LEASE_MS = 60_000;
/** Nothing is looked for every now and then while commands are counted. */
const NEVER_MS = 3_600_000;
/** How many announcements are gathered into one depends on the time that the calls take. */
const isCounted = ([name]: readonly [string, number]): boolean => name !== 'publish';
const DELIVERED = { state: 'delivered', progress: NO_PROGRESS } as const;

describe.skipIf(!hasServer('redis'))('what a delivery costs a Redis', () => {
  let running: TestServer;
  let server: Server;
  let admin: Redis;
  let queue: ServerQueue;
  let inspection: ServerInspection;

  beforeAll(async () => {
    running = await startServer('redis');
    server = await openServer(running.url);
    admin = new Redis(running.url);
  });

  afterAll(async () => {
    admin.disconnect();
    await server.close();
    await running.remove();
  });

  beforeEach(async () => {
    await running.empty();
    queue = new ServerQueue({ server, clock: systemClock, recoverMs: NEVER_MS });
    inspection = new ServerInspection({ server, clock: systemClock });
    await deliver('before');
  });

  /** All that is done for each delivery, from the call to the end, and what a request may ask of it. */
  async function deliver(prefix: string): Promise<void> {
    const ids = Array.from({ length: DELIVERIES }, (_, index) => `${prefix}-${index}`);
    const seen = new ServerSeen(server, systemClock);
    const deletions = new ServerDeletionStore(server);
    for (const id of ids) {
      await seen.among('web', [id]);
      await seen.add('web', [id], queue.add([newDelivery(id, { orderKeys: ['user'] })]));
      expect((await inspection.get(id))?.state).toBe('pending');
    }
    const request = { id: prefix, createdAt: 1, userIds: ids, deliveryIds: new Map([['web', ids]]) };
    await deletions.add(request, Promise.resolve());
    for (let settled = 0; settled < DELIVERIES;) {
      const { claims } = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
      for (const claim of claims) {
        await queue.renew(claim, NO_PROGRESS, LEASE_MS);
        await queue.settle(claim, DELIVERED);
        const { id } = claim.delivery;
        if (!ids.includes(id)) continue;
        settled++;
        await deletions.settled(prefix, 'web', { deliveryId: id, isDelivered: true });
      }
    }
    await inspection.states(ids);
    await deletions.get(prefix);
  }

  /** Behind what is delivered: in its lane, and in its order key. */
  async function addBacklog(): Promise<void> {
    for (const [prefix, orderKeys] of [
      ['waits', []],
      ['held', ['another user']],
    ] as const) {
      await queue.add(
        Array.from({ length: BACKLOG }, (_, index) => newDelivery(`${prefix}-${index}`, { orderKeys })),
      );
    }
  }

  it('is the same however many wait', async () => {
    const alone = await commandsDuring(admin, () => deliver('alone'));
    await running.empty();
    // In another lane: a claim takes what came first.
    await queue.add(
      Array.from({ length: BACKLOG }, (_, index) => newDelivery(`other-${index}`, { source: 'other' })),
    );
    const among = await commandsDuring(admin, () => deliver('among'));
    const rounded = (commands: ReadonlyMap<string, number>): object =>
      Object.fromEntries(
        [...commands].filter(isCounted).map(([name, calls]) => [name, Math.round(calls / DELIVERIES)]),
      );
    expect(rounded(among)).toEqual(rounded(alone));
    const sum = [...among.values()].reduce((total, calls) => total + calls, 0);
    expect(sum / DELIVERIES).toBeLessThan(400);
  });

  it('is no command that looks through what waits', async () => {
    await addBacklog();
    const lines = await commandLinesDuring(admin, async () => {
      const ids = Array.from({ length: DELIVERIES }, (_, index) => `waits-${index}`);
      await inspection.states([...ids, `held-${BACKLOG - 1}`]);
      for (const id of ids) expect(await inspection.get(id)).toBeDefined();
      const { claims } = await queue.claim({ ...LANE, limit: DELIVERIES, leaseMs: LEASE_MS });
      for (const claim of claims) await queue.settle(claim, DELIVERED);
      expect(claims).toHaveLength(DELIVERIES);
      // Out of the middle of its order key.
      expect(await inspection.drop([`held-${BACKLOG / 2}`])).toEqual(['dropped']);
    });
    const looking = lines.filter((line) => /^(?:lrange|lpos|lrem|smembers|zrange \S+ 0 -1)\b/i.test(line));
    // The list of all lanes is as long as the config.
    expect(looking.filter((line) => /:hooks\/.*:wait\b|hooks:line:/.test(line))).toEqual([]);
    expect(lines.some((line) => /^rpoplpush .*:wait /i.test(line))).toBe(true);
  });

  it('is little when thousands are moved away', async () => {
    await addBacklog();
    const to = new MemoryQueue(systemClock);
    const { signal } = new AbortController();
    let counts: unknown;
    const commands = await commandsDuring(admin, async () => {
      counts = await moveDeliveries({ from: inspection, to, signal });
    });
    expect(counts).toEqual({ waiting: 2 * BACKLOG, dead: 0, left: 0 });
    const asked = ['evalsha', 'eval', 'hgetall', 'multi'].map((name) => commands.get(name) ?? 0);
    expect(asked.reduce((sum, calls) => sum + calls, 0)).toBeLessThan(BACKLOG / 5);
    expect(await inspection.stats()).toMatchObject([{ pending: 0, delivered: DELIVERIES }]);
    await to.close();
  });
});
