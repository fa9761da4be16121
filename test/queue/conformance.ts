import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { ClosedError } from '../../src/errors.ts';
import { NO_PROGRESS, type AttemptRecord, type Progress } from '../../src/queue/delivery.ts';
import type { Claim, Queue } from '../../src/queue/queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { checkAgainstModel, commands } from './model.ts';
import { LANE, newDelivery } from './new-delivery.ts';

const LEASE_MS = 10_000;

const ATTEMPT: AttemptRecord = {
  at: 1_700_000_000_000,
  url: 'https://a.example/hook',
  round: 1,
  result: 'retryable',
  status: 503,
  error: 'http-5xx',
  detail: 'überlastet',
  ms: 12,
  reconnected: true,
};

const PROGRESS: Progress = {
  rounds: 1,
  firstAttemptAt: 1_700_000_000_000,
  attempts: [ATTEMPT],
  rejectedBy: ['https://b.example/hook'],
  notBefore: { 'https://a.example/hook': 1_700_000_005_000 },
};

/** What every queue does, whatever it keeps its deliveries in. `open` gives an empty queue that goes by that clock. */
export function queueConformance(
  name: string,
  open: (clock: Clock) => Promise<Queue>,
  { modelRuns = 300 } = {},
): void {
  describe(`${name} as a queue`, () => {
    let clock: FakeClock;
    let queue: Queue;

    beforeEach(async () => {
      clock = new FakeClock();
      queue = await open(clock);
    });

    afterEach(() => queue.close());

    const claim = async (limit = 100, lane = LANE): Promise<readonly Claim[]> =>
      (await queue.claim({ ...lane, limit, leaseMs: LEASE_MS })).claims;
    const claimIds = async (limit = 100, lane = LANE): Promise<readonly string[]> =>
      (await claim(limit, lane)).map(({ delivery }) => delivery.id);
    const claimOne = async (): Promise<Claim> => {
      const [first] = await claim(1);
      if (first === undefined) throw new Error('nothing to claim');
      return first;
    };
    const nextDueAt = async (): Promise<number | undefined> =>
      (await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS })).nextDueAt;
    const deliver = (taken: Claim): Promise<boolean> =>
      queue.settle(taken, { state: 'delivered', progress: NO_PROGRESS });
    const retryAt = (taken: Claim, dueAt: number): Promise<boolean> =>
      queue.settle(taken, { state: 'retrying', dueAt, progress: NO_PROGRESS });

    describe('add', () => {
      it('keeps every field and the exact bytes', async () => {
        const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
        const added = newDelivery('a', { body, orderKeys: ['u1', 'u2'], createdAt: 5, dueAt: 7 });
        await queue.add([added]);
        const { delivery } = await claimOne();
        expect({ ...delivery, body: [...delivery.body] }).toEqual({
          ...added,
          body: [...body],
          state: 'sending',
          progress: NO_PROGRESS,
        });
      });

      it('never gives out what is dead on arrival, nor lets it hold others back', async () => {
        const dead = { reason: 'invalid', detail: 'expected `event`, got nothing' } as const;
        await queue.add([
          newDelivery('a', { orderKeys: ['u'], dead }),
          newDelivery('b', { orderKeys: ['u'] }),
        ]);
        await queue.add([newDelivery('c', { destination: '', dead })]);
        expect(await queue.lanes()).toEqual([LANE]);
        expect(await claimIds()).toEqual(['b']);
      });

      it('leaves an id alone that is waiting, is named twice, or is under way', async () => {
        await queue.add([newDelivery('a', { type: 'page' }), newDelivery('a', { type: 'screen' })]);
        await queue.add([newDelivery('a', { type: 'group' }), newDelivery('b')]);
        const claims = await claim();
        expect(claims.map(({ delivery }) => [delivery.id, delivery.type])).toEqual([
          ['a', 'page'],
          ['b', 'track'],
        ]);
        await queue.add([newDelivery('a')]);
        expect(await claimIds()).toEqual([]);
      });

      it('takes an empty list', async () => {
        await queue.add([]);
        expect(await queue.lanes()).toEqual([]);
      });
    });

    describe('claim', () => {
      it('gives what is due, earliest due first, then in the order of adding', async () => {
        const now = clock.now();
        await queue.add([
          newDelivery('later', { dueAt: now }),
          newDelivery('future', { dueAt: now + 1 }),
          newDelivery('first', { dueAt: now - 10 }),
          newDelivery('second', { dueAt: now - 10 }),
        ]);
        await queue.add([newDelivery('third', { dueAt: now - 10 })]);
        expect(await claimIds()).toEqual(['first', 'second', 'third', 'later']);
      });

      it('gives no more than asked for, and nothing twice', async () => {
        await queue.add(['a', 'b', 'c'].map((id) => newDelivery(id)));
        expect(await claimIds(2)).toEqual(['a', 'b']);
        expect(await claimIds(2)).toEqual(['c']);
        expect(await claimIds(2)).toEqual([]);
      });

      it('gives nothing twice to those who ask at once', async () => {
        await queue.add(Array.from({ length: 20 }, (_, index) => newDelivery(`${index}`)));
        const taken = (await Promise.all([claimIds(7), claimIds(7), claimIds(7)])).flat();
        expect(taken).toHaveLength(20);
        expect(new Set(taken).size).toBe(20);
      });

      it('keeps lanes apart, whatever their names', async () => {
        const lanes = [
          LANE,
          { source: 'web', destination: 'Other' },
          { source: 'app', destination: 'Webhooks' },
          { source: 'we', destination: 'bWebhooks' },
          { source: '__proto__', destination: 'ünï "quoted" :name' },
        ];
        await queue.add(lanes.map((lane, index) => newDelivery(`${index}`, { ...lane, orderKeys: ['u'] })));
        for (const [index, lane] of lanes.entries()) expect(await claimIds(100, lane)).toEqual([`${index}`]);
      });

      it('says when something is next due: in the future, by a lease, not by what an order key holds back', async () => {
        const now = clock.now();
        expect(await nextDueAt()).toBeUndefined();
        await queue.add([
          newDelivery('a', { dueAt: now + 50, orderKeys: ['u'] }),
          newDelivery('b', { dueAt: now + 10, orderKeys: ['u'] }),
        ]);
        expect(await nextDueAt()).toBe(now + 50);
        await clock.advance(50);
        const taken = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
        expect(taken.claims.map(({ delivery }) => delivery.id)).toEqual(['a']);
        expect(taken.nextDueAt).toBe(now + 50 + LEASE_MS);
        await queue.add([newDelivery('c', { dueAt: now + 70 })]);
        expect(await nextDueAt()).toBe(now + 70);
      });

      it('says that more is due when the limit cut it short', async () => {
        await queue.add([newDelivery('a'), newDelivery('b')]);
        expect(await nextDueAt()).toBeLessThanOrEqual(clock.now());
      });
    });

    describe('settle', () => {
      it.each(['delivered', 'dead'] as const)('never gives out again what is %s', async (state) => {
        await queue.add([newDelivery('a')]);
        const settlement =
          state === 'dead'
            ? ({ state, reason: 'rejected', progress: PROGRESS } as const)
            : { state, progress: PROGRESS };
        expect(await queue.settle(await claimOne(), settlement)).toBe(true);
        await clock.advance(10 * LEASE_MS);
        expect(await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS })).toEqual({
          claims: [],
          nextDueAt: undefined,
        });
        expect(await queue.lanes()).toEqual([]);
      });

      it('gives out a rescheduled delivery when it is due, not before, with its progress', async () => {
        await queue.add([newDelivery('a')]);
        const dueAt = clock.now() + 3_600_000;
        expect(await queue.settle(await claimOne(), { state: 'retrying', dueAt, progress: PROGRESS })).toBe(
          true,
        );
        await clock.advance(3_600_000 - 1);
        expect(await claimIds()).toEqual([]);
        await clock.advance(1);
        const { delivery } = await claimOne();
        expect(delivery.progress).toEqual(PROGRESS);
        expect(delivery.dueAt).toBe(dueAt);
      });

      it('does nothing the second time', async () => {
        await queue.add([newDelivery('a')]);
        const taken = await claimOne();
        expect(await retryAt(taken, 0)).toBe(true);
        expect(await deliver(taken)).toBe(false);
        expect(await claimIds()).toEqual(['a']);
      });
    });

    describe('order keys', () => {
      it('hold back later deliveries until the earlier one is settled', async () => {
        await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
        await queue.add([newDelivery('c', { orderKeys: ['u'] }), newDelivery('x', { orderKeys: ['v'] })]);
        const [a] = await claim();
        expect(await claimIds()).toEqual([]);
        await deliver(a as Claim);
        const b = await claimOne();
        expect(b.delivery.id).toBe('b');
        await queue.settle(b, { state: 'dead', reason: 'exhausted', progress: NO_PROGRESS });
        expect(await claimIds()).toEqual(['c']);
      });

      it('hold back later deliveries while the earlier one waits for its retry, or for its first time', async () => {
        const now = clock.now();
        await queue.add([
          newDelivery('a', { orderKeys: ['u'] }),
          newDelivery('b', { orderKeys: ['u'] }),
          newDelivery('x', { orderKeys: ['v'], dueAt: now + 1_000 }),
          newDelivery('y', { orderKeys: ['v'] }),
        ]);
        await retryAt(await claimOne(), now + 1_000);
        expect(await claimIds()).toEqual([]);
        await clock.advance(1_000);
        expect(await claimIds()).toEqual(['a', 'x']);
      });

      it('hold back a delivery of two keys until both are free, and what comes after it in either', async () => {
        await queue.add([
          newDelivery('old', { orderKeys: ['anonymous'] }),
          newDelivery('new', { orderKeys: ['user'] }),
          newDelivery('alias', { orderKeys: ['anonymous', 'user'] }),
          newDelivery('old2', { orderKeys: ['anonymous'] }),
          newDelivery('new2', { orderKeys: ['user'] }),
        ]);
        const [old, fresh] = await claim();
        expect([old?.delivery.id, fresh?.delivery.id]).toEqual(['old', 'new']);
        await deliver(old as Claim);
        expect(await claimIds()).toEqual([]);
        await deliver(fresh as Claim);
        const alias = await claim();
        expect(alias.map(({ delivery }) => delivery.id)).toEqual(['alias']);
        await deliver(alias[0] as Claim);
        expect(await claimIds()).toEqual(['old2', 'new2']);
      });

      it('do not make a delivery that names one twice wait for itself', async () => {
        await queue.add([
          newDelivery('a', { orderKeys: ['u', 'v', 'u'] }),
          newDelivery('b', { orderKeys: ['u'] }),
        ]);
        const taken = await claim();
        expect(taken.map(({ delivery }) => delivery.id)).toEqual(['a']);
        await deliver(taken[0] as Claim);
        expect(await claimIds()).toEqual(['b']);
      });

      it('stay held by a delivery whose lease has ended', async () => {
        await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
        await claimOne();
        await clock.advance(LEASE_MS);
        expect(await claimIds()).toEqual(['a']);
      });
    });

    describe('a lease', () => {
      it('that has ended makes the delivery claimable in its old place, with the progress last renewed', async () => {
        const now = clock.now();
        await queue.add([newDelivery('a', { dueAt: now - 5 }), newDelivery('b', { dueAt: now - 4 })]);
        const taken = await claimOne();
        expect(await queue.renew(taken, PROGRESS, LEASE_MS)).toBe(true);
        await clock.advance(LEASE_MS - 1);
        expect(await claimIds(1)).toEqual(['b']);
        await clock.advance(1);
        const again = await claimOne();
        expect(again.delivery).toMatchObject({ id: 'a', state: 'sending', progress: PROGRESS });
        expect(again.token).not.toBe(taken.token);
      });

      it('that is renewed lasts from then', async () => {
        await queue.add([newDelivery('a')]);
        const taken = await claimOne();
        await clock.advance(LEASE_MS - 1);
        expect(await queue.renew(taken, NO_PROGRESS, LEASE_MS)).toBe(true);
        await clock.advance(LEASE_MS - 1);
        expect(await claimIds()).toEqual([]);
        expect(await deliver(taken)).toBe(true);
      });

      it('that another has taken over voids the old token, for renewing and for settling', async () => {
        await queue.add([newDelivery('a')]);
        const old = await claimOne();
        await clock.advance(LEASE_MS);
        const taken = await claimOne();
        expect(await queue.renew(old, PROGRESS, LEASE_MS)).toBe(false);
        expect(await deliver(old)).toBe(false);
        expect(await retryAt(old, 0)).toBe(false);
        expect(taken.delivery.progress).toEqual(NO_PROGRESS);
        expect(await deliver(taken)).toBe(true);
        expect(await queue.renew(taken, PROGRESS, LEASE_MS)).toBe(false);
      });
    });

    it('names the lanes that have something unsettled, under way included', async () => {
      const other = { source: 'app', destination: 'Gone' };
      await queue.add([newDelivery('a'), newDelivery('b', other), newDelivery('c', other)]);
      const taken = await claimOne();
      expect((await queue.lanes()).toSorted((a, b) => a.source.localeCompare(b.source))).toEqual([
        other,
        LANE,
      ]);
      await deliver(taken);
      expect(await queue.lanes()).toEqual([other]);
    });

    it('rejects everything but close() after close()', async () => {
      await queue.add([newDelivery('a')]);
      const taken = await claimOne();
      await queue.close();
      await expect(queue.add([newDelivery('b')])).rejects.toThrow(ClosedError);
      await expect(claim()).rejects.toThrow(ClosedError);
      await expect(queue.renew(taken, NO_PROGRESS, LEASE_MS)).rejects.toThrow(ClosedError);
      await expect(deliver(taken)).rejects.toThrow(ClosedError);
      await expect(queue.lanes()).rejects.toThrow(ClosedError);
      await queue.close();
    });

    it('does what a naive model does, whatever the order of calls', async () => {
      await fc.assert(
        fc.asyncProperty(commands, async (list) => {
          const modelClock = new FakeClock();
          const opened = await open(modelClock);
          try {
            await checkAgainstModel(opened, modelClock, list);
          } finally {
            await opened.close();
          }
        }),
        { numRuns: modelRuns },
      );
    });
  });
}
