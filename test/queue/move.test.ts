import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { NO_PROGRESS, type DeliveryState } from '../../src/queue/delivery.ts';
import type { QueueInspection } from '../../src/queue/inspection.ts';
import { moveDeliveries } from '../../src/queue/move.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { ServerQueue } from '../../src/stores/server/queue/server-queue.ts';
import { SqliteInspection } from '../../src/stores/sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue } from '../../src/stores/sqlite/queue/sqlite-queue.ts';
import type { Queue } from '../../src/queue/queue.ts';
import { QUEUE_TABLES } from '../../src/stores/sqlite/queue/queue-tables.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { systemClock } from '../../src/clock.ts';
import { hasServer, startServer, type ServerKind } from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { LANE, newDelivery } from './new-delivery.ts';

interface Opened {
  readonly queue: Queue;
  readonly inspection: QueueInspection;
}

const ALL: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
const ATTEMPT = { at: 1, url: 'https://a.example/', round: 1, result: 'retryable', ms: 2 } as const;
const PROGRESS = { ...NO_PROGRESS, rounds: 2, firstAttemptAt: 5, attempts: [ATTEMPT] };
const RETRY_AT = Date.UTC(2100, 0, 1);
const signal = new AbortController().signal;

async function file(): Promise<Opened> {
  const store = await openStore(join(temporaryFolder(), 'hooks.db'), {
    clock: systemClock,
    tables: [QUEUE_TABLES],
  });
  onTestFinished(() => store.close());
  return {
    queue: new SqliteQueue({ store, clock: systemClock }),
    inspection: new SqliteInspection({ store, clock: systemClock }),
  };
}

async function serverOf(kind: ServerKind): Promise<Opened> {
  const running = await startServer(kind);
  const server = await openServer(running.url);
  onTestFinished(async () => {
    await server.close();
    await running.remove();
  });
  return {
    queue: new ServerQueue({ server, clock: systemClock }),
    inspection: new ServerInspection({ server, clock: systemClock }),
  };
}

/** A dead letter, an invalid message, one that is put off, one that is delivered, and three of one order key. */
async function fill({ queue }: Opened): Promise<void> {
  await queue.add([newDelivery('dead'), newDelivery('delivered'), newDelivery('retrying')]);
  const { claims } = await queue.claim({ ...LANE, limit: 3, leaseMs: 60_000 });
  for (const claim of claims) {
    const { id } = claim.delivery;
    if (id === 'dead') await queue.settle(claim, { state: 'dead', reason: 'exhausted', progress: PROGRESS });
    if (id === 'delivered') await queue.settle(claim, { state: 'delivered', progress: PROGRESS });
    if (id === 'retrying')
      await queue.settle(claim, { state: 'retrying', dueAt: RETRY_AT, progress: PROGRESS });
  }
  const dead = { state: 'dead', reason: 'invalid', detail: 'no event' } as const;
  await queue.add([newDelivery('invalid', { destination: '', ...dead })]);
  await queue.add(
    ['u1', 'u2', 'u3'].map((id, place) => newDelivery(id, { orderKeys: ['u'], createdAt: place })),
  );
}

async function idsIn({ inspection }: Opened, states = ALL): Promise<readonly string[]> {
  const { deliveries } = await inspection.list({ states, limit: 100 });
  return deliveries.map(({ id }) => id).toSorted();
}

async function expectMoved(from: Opened, to: Opened): Promise<void> {
  expect(await idsIn(from)).toEqual(['delivered']);
  expect(await idsIn(to)).toEqual(['dead', 'invalid', 'retrying', 'u1', 'u2', 'u3']);
  expect(await to.inspection.get('dead')).toMatchObject({
    state: 'dead',
    reason: 'exhausted',
    progress: PROGRESS,
  });
  expect(await to.inspection.get('invalid')).toMatchObject({
    state: 'dead',
    reason: 'invalid',
    detail: 'no event',
  });
  expect(await to.inspection.get('retrying')).toMatchObject({
    state: 'retrying',
    dueAt: RETRY_AT,
    progress: PROGRESS,
  });
  for (const id of ['u1', 'u2', 'u3']) {
    const { claims } = await to.queue.claim({ ...LANE, limit: 10, leaseMs: 60_000 });
    expect(claims.map(({ delivery }) => delivery.id)).toEqual([id]);
    for (const claim of claims) await to.queue.settle(claim, { state: 'delivered', progress: NO_PROGRESS });
  }
}

describe('moveDeliveries', () => {
  it.skipIf(!hasServer('redis'))(
    'moves what waits and what is dead from a file to Redis and back',
    async () => {
      const [from, to, back] = [await file(), await serverOf('redis'), await file()];
      await fill(from);
      expect(await moveDeliveries({ from: from.inspection, to: to.queue, signal })).toEqual({
        waiting: 4,
        dead: 2,
        left: 0,
      });
      await moveDeliveries({ from: to.inspection, to: back.queue, signal });
      expect(await idsIn(to)).toEqual([]);
      await expectMoved(from, back);
    },
  );

  it.skipIf(!hasServer('postgres'))('moves from a file to PostgreSQL', async () => {
    const [from, to] = [await file(), await serverOf('postgres')];
    await fill(from);
    await moveDeliveries({ from: from.inspection, to: to.queue, signal });
    await expectMoved(from, to);
  });

  it('loses and doubles nothing when it ends between the two queues, and is begun again', async () => {
    const [from, to] = [await file(), await file()];
    await fill(from);
    const broken = new Proxy(from.inspection, {
      get: (target, name) =>
        name === 'drop'
          ? () => Promise.reject(new QueueError('gone'))
          : (Reflect.get(target, name) as (...words: unknown[]) => unknown).bind(target), // all are methods
    });
    await expect(moveDeliveries({ from: broken, to: to.queue, signal })).rejects.toThrow('gone');
    expect((await idsIn(from)).length).toBe(7);
    expect((await idsIn(to)).length).toBe(6);
    await moveDeliveries({ from: from.inspection, to: to.queue, signal });
    await expectMoved(from, to);
  });

  it('leaves what is under way, and counts it', async () => {
    const [from, to] = [await file(), await file()];
    await from.queue.add([newDelivery('a'), newDelivery('b', { dueAt: 1 })]);
    await from.queue.claim({ ...LANE, limit: 1, leaseMs: 60_000 });
    const counts = await moveDeliveries({ from: from.inspection, to: to.queue, signal });
    expect(counts).toEqual({ waiting: 1, dead: 0, left: 1 });
    expect([await idsIn(from), await idsIn(to)]).toEqual([['a'], ['b']]);
  });
});
