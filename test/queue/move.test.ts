import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import type { Delivery } from '../../src/queue/delivery.ts';
import { moveDeliveries } from '../../src/queue/move.ts';
import { expectMoved, file, fill, idsIn, signal } from './moving.ts';
import { LANE, newDelivery } from './new-delivery.ts';

describe('moveDeliveries', () => {
  it('neither loses nor duplicates deliveries when it is interrupted and repeated', async () => {
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

  it('drops deliveries only after the other queue has them, page by page', async () => {
    const [from, to] = [await file(), await file()];
    await from.queue.add(Array.from({ length: 3_500 }, (_, index) => newDelivery(`d-${index}`)));
    const added: string[] = [];
    const slow = {
      add: async (deliveries: readonly Delivery[]) => {
        await to.queue.add(deliveries);
        await nextTurn();
        added.push(...deliveries.map(({ id }) => id));
      },
    };
    const early: string[] = [];
    const watched = new Proxy(from.inspection, {
      get: (target, name) =>
        name === 'drop'
          ? (dropped: readonly Delivery[]) => {
              const there = new Set(added);
              early.push(...dropped.map(({ id }) => id).filter((id) => !there.has(id)));
              return target.drop(dropped);
            }
          : (Reflect.get(target, name) as (...words: unknown[]) => unknown).bind(target), // all are methods
    });
    const counts = await moveDeliveries({ from: watched, to: slow, signal });
    expect(counts).toEqual({ waiting: 3_500, dead: 0, left: 0 });
    expect(early).toEqual([]);
    expect(added).toEqual(Array.from({ length: 3_500 }, (_, index) => `d-${index}`));
  });

  it('leaves deliveries in flight, and counts them', async () => {
    const [from, to] = [await file(), await file()];
    await from.queue.add([newDelivery('a'), newDelivery('b', { dueAt: 1 })]);
    await from.queue.claim({ ...LANE, limit: 1, leaseMs: 60_000 });
    const counts = await moveDeliveries({ from: from.inspection, to: to.queue, signal });
    expect(counts).toEqual({ waiting: 1, dead: 0, left: 1 });
    expect([await idsIn(from), await idsIn(to)]).toEqual([['a'], ['b']]);
  });
});
