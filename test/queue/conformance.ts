import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { ClosedError } from '../../src/errors.ts';
import type { AttemptRecord } from '../../src/attempt-record.ts';
import { NO_PROGRESS, type Progress } from '../../src/queue/delivery.ts';
import type { Claim, LaneId, Queue } from '../../src/queue/queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { checkAgainstModel, commands, timelessCommands } from './model.ts';
import { until } from '../until.ts';
import { LANE, newDelivery } from './new-delivery.ts';

/** The times of the tests: of a clock moved by hand, or short real ones with room for a slow machine. */
export interface Times {
  readonly leaseMs: number;
  /** A lease that does not end, for tests about other things. */
  readonly longLeaseMs: number;
  /** A time at which a lease has not ended. */
  readonly withinLeaseMs: number;
  readonly laterMs: number;
  readonly beforeLaterMs: number;
  readonly soonMs: number;
  /** A time after the end of the test. */
  readonly farMs: number;
}

const EXACT_TIMES: Times = {
  leaseMs: 10_000,
  longLeaseMs: 10_000,
  withinLeaseMs: 9_999,
  // Not hours, because the owner of a file writes a beat every two seconds.
  laterMs: 300_000,
  beforeLaterMs: 300_000 - 1,
  soonMs: 1_000,
  farMs: 1,
};

/** Time that passes when told, or real time. */
export interface TestClock extends Clock {
  advance(ms: number): Promise<void>;
}

export interface ConformanceOptions {
  readonly modelRuns?: number;
  /** Opens the queue of the last `open` a second time, as another process would. @default the queue has only one process */
  readonly openOther?: (clock: TestClock) => Promise<Queue>;
  /** @default a FakeClock for each queue */
  readonly clock?: () => TestClock;
  /** @default EXACT_TIMES */
  readonly times?: Times;
  /**
   * BullMQ orders deliveries not by due time, but as they became due (Redis) or were added (PostgreSQL), and not at all for
   * several processes or connections. The end of another process's lease is unknown. So claims are compared without their
   * order, `nextDueAt` may be too early, and an id is unique only in its lane.
   * @default false
   */
  readonly isLoose?: boolean;
}

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

/** The largest difference between two clocks of one machine. */
const CLOCKS_MS = 100;

const PROGRESS: Progress = {
  rounds: 1,
  firstAttemptAt: 1_700_000_000_000,
  attempts: [ATTEMPT],
  rejectedBy: ['https://b.example/hook'],
  notBefore: { 'https://a.example/hook': 1_700_000_005_000 },
};

/** Tests that every queue passes. `open` returns an empty queue that uses the clock. */
export function queueConformance(
  name: string,
  open: (clock: TestClock) => Promise<Queue>,
  {
    modelRuns = 300,
    openOther,
    clock: newClock = () => new FakeClock(),
    times = EXACT_TIMES,
    isLoose = false,
  }: ConformanceOptions = {},
): void {
  const { leaseMs: LEASE_MS, laterMs, soonMs } = times;
  const waitWithinLease = times.withinLeaseMs;
  const inOrder = (ids: readonly string[]): readonly string[] => (isLoose ? ids.toSorted() : ids);

  describe(`${name} as a queue`, () => {
    let clock: TestClock;
    let queue: Queue;
    let leaseMs: number;

    beforeEach(async () => {
      clock = newClock();
      leaseMs = times.longLeaseMs;
      queue = await open(clock);
    });

    afterEach(() => queue.close());

    const claim = async (limit = 100, lane = LANE): Promise<readonly Claim[]> =>
      (await queue.claim({ ...lane, limit, leaseMs })).claims;
    const claimIds = async (limit = 100, lane = LANE): Promise<readonly string[]> =>
      inOrder((await claim(limit, lane)).map(({ delivery }) => delivery.id));
    const expectNextDueAt = (actual: number | undefined, expected: number): void => {
      if (isLoose) expect(actual).toBeLessThanOrEqual(Math.max(expected, clock.now() + LEASE_MS));
      else expect(actual).toBe(expected);
    };
    const claimOne = async (): Promise<Claim> => {
      const [first] = await claim(1);
      if (first === undefined) throw new Error('nothing to claim');
      return first;
    };
    const nextDueAt = async (): Promise<number | undefined> =>
      (await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS })).nextDueAt;
    const deliver = async (taken: Claim): Promise<boolean> =>
      queue.settle(taken, { state: 'delivered', progress: NO_PROGRESS });
    const retryAt = async (taken: Claim, dueAt: number): Promise<boolean> =>
      queue.settle(taken, { state: 'retrying', dueAt, progress: NO_PROGRESS });

    describe('add', () => {
      it('keeps every field and the exact bytes', async () => {
        const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
        const trace = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 rojo=1,congo=2';
        const added = newDelivery('a', { body, orderKeys: ['u1', 'u2'], trace, createdAt: 5, dueAt: 7 });
        await queue.add([added]);
        const { delivery } = await claimOne();
        expect({ ...delivery, body: [...delivery.body] }).toEqual({
          ...added,
          body: [...body],
          state: 'sending',
          progress: NO_PROGRESS,
        });
      });

      it('never returns a delivery that was added as dead, nor lets it hold others back', async () => {
        const dead = { state: 'dead', reason: 'invalid', detail: 'expected `event`, got nothing' } as const;
        await queue.add([
          newDelivery('a', { orderKeys: ['u'], ...dead }),
          newDelivery('b', { orderKeys: ['u'] }),
        ]);
        await queue.add([newDelivery('c', { destination: '', ...dead })]);
        expect(await queue.lanes()).toEqual([LANE]);
        expect(await claimIds()).toEqual(['b']);
      });

      it('keeps the progress from another queue', async () => {
        await queue.add([newDelivery('a', { progress: PROGRESS, orderKeys: ['u'] })]);
        expect((await claimOne()).delivery.progress).toEqual(PROGRESS);
      });

      it('ignores an id that waits, is repeated, or is in flight', async () => {
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

      it('accepts an empty list', async () => {
        await queue.add([]);
        expect(await queue.lanes()).toEqual([]);
      });
    });

    describe('claim', () => {
      it('returns due deliveries, earliest due first, then in the order of adding', async () => {
        const now = clock.now();
        await queue.add([
          newDelivery('later', { dueAt: now }),
          newDelivery('future', { dueAt: now + times.farMs }),
          newDelivery('first', { dueAt: now - 10 }),
          newDelivery('second', { dueAt: now - 10 }),
        ]);
        await queue.add([newDelivery('third', { dueAt: now - 10 })]);
        expect(await claimIds()).toEqual(inOrder(['first', 'second', 'third', 'later']));
      });

      it('returns at most the limit, and nothing twice', async () => {
        await queue.add(['a', 'b', 'c'].map((id) => newDelivery(id)));
        expect(await claimIds(2)).toEqual(['a', 'b']);
        expect(await claimIds(2)).toEqual(['c']);
        expect(await claimIds(2)).toEqual([]);
      });

      it('returns nothing twice to concurrent callers', async () => {
        await queue.add(Array.from({ length: 20 }, (_, index) => newDelivery(`${index}`)));
        const taken = (await Promise.all([claimIds(7), claimIds(7), claimIds(7)])).flat();
        expect(taken).toHaveLength(20);
        expect(new Set(taken).size).toBe(20);
      });

      it('separates lanes, whatever their names', async () => {
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

      it('returns the next due time, including leases, without deliveries that an order key holds back', async () => {
        const now = clock.now();
        expect(await nextDueAt()).toBeUndefined();
        await queue.add([
          newDelivery('a', { dueAt: now + soonMs, orderKeys: ['u'] }),
          newDelivery('b', { dueAt: now + 10, orderKeys: ['u'] }),
        ]);
        expectNextDueAt(await nextDueAt(), now + soonMs);
        await clock.advance(soonMs);
        const taken = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
        expect(taken.claims.map(({ delivery }) => delivery.id)).toEqual(['a']);
        expectNextDueAt(taken.nextDueAt, clock.now() + LEASE_MS);
        await queue.add([newDelivery('c', { dueAt: now + 3 * soonMs })]);
        expectNextDueAt(await nextDueAt(), now + 3 * soonMs);
      });

      it('returns that more is due if the limit was reached', async () => {
        await queue.add([newDelivery('a'), newDelivery('b')]);
        expect(await nextDueAt()).toBeLessThanOrEqual(clock.now());
      });
    });

    describe('settle', () => {
      it.each(['delivered', 'dead'] as const)('never returns a %s delivery again', async (state) => {
        await queue.add([newDelivery('a')]);
        const settlement =
          state === 'dead'
            ? ({ state, reason: 'rejected', progress: PROGRESS } as const)
            : { state, progress: PROGRESS };
        expect(await queue.settle(await claimOne(), settlement)).toBe(true);
        await clock.advance(laterMs);
        expect(await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS })).toMatchObject({
          claims: [],
          nextDueAt: undefined,
        });
        expect(await queue.lanes()).toEqual([]);
      });

      it('stores a settlement after which the caller does not claim', async () => {
        await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
        const settlement = { state: 'delivered', progress: PROGRESS } as const;
        expect(await queue.settle(await claimOne(), settlement, { claimsNext: false })).toBe(true);
        expect((await claimOne()).delivery.id).toBe('b');
      });

      it('tells whether order keys hold deliveries back', async () => {
        await queue.add([newDelivery('a', { orderKeys: ['u'] })]);
        const request = { ...LANE, limit: 1, leaseMs: LEASE_MS };
        const { hasHeld } = await queue.claim(request);
        await queue.add([newDelivery('b', { orderKeys: ['u'] })]);
        expect([hasHeld, (await queue.claim(request)).hasHeld]).toEqual(
          hasHeld === undefined ? [undefined, undefined] : [false, true],
        );
      });

      it('makes a rescheduled delivery claimable when it is due, with its progress', async () => {
        await queue.add([newDelivery('a')]);
        const dueAt = clock.now() + laterMs;
        expect(await queue.settle(await claimOne(), { state: 'retrying', dueAt, progress: PROGRESS })).toBe(
          true,
        );
        await clock.advance(times.beforeLaterMs);
        expect(await claimIds()).toEqual([]);
        await clock.advance(laterMs - times.beforeLaterMs);
        const { delivery } = await claimOne();
        expect(delivery.progress).toEqual(PROGRESS);
        expect(delivery.dueAt).toBe(dueAt);
      });

      it('has no effect the second time', async () => {
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

      it('hold back later deliveries while the earlier one waits', async () => {
        // If a busy machine looks too late, the result is meaningless, and the test repeats with more time.
        let dueAt = 0;
        for (let inMs = soonMs, isInTime = false; !isInTime; inMs *= 2) {
          await queue.close();
          queue = await open(clock);
          dueAt = clock.now() + inMs;
          await queue.add([
            newDelivery('a', { orderKeys: ['u'] }),
            newDelivery('b', { orderKeys: ['u'] }),
            newDelivery('x', { orderKeys: ['v'], dueAt }),
            newDelivery('y', { orderKeys: ['v'] }),
          ]);
          await retryAt(await claimOne(), dueAt);
          const early = await claimIds();
          isInTime = clock.now() < dueAt;
          if (isInTime) expect(early).toEqual([]);
        }
        await clock.advance(Math.max(0, dueAt - clock.now()));
        const due: string[] = [];
        await until(async () => due.push(...(await claimIds())) >= 2, 'both to be due');
        expect(inOrder(due)).toEqual(['a', 'x']);
        expect(await claimIds()).toEqual([]);
      });

      it('hold back a delivery with two keys until both are free, and later ones with either key', async () => {
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
        expect(await claimIds()).toEqual(inOrder(['old2', 'new2']));
      });

      it('may contain duplicates', async () => {
        await queue.add([
          newDelivery('a', { orderKeys: ['u', 'v', 'u'] }),
          newDelivery('b', { orderKeys: ['u'] }),
        ]);
        const taken = await claim();
        expect(taken.map(({ delivery }) => delivery.id)).toEqual(['a']);
        await deliver(taken[0] as Claim);
        expect(await claimIds()).toEqual(['b']);
      });

      it('are those of the first addition of an id', async () => {
        await queue.add([newDelivery('a'), newDelivery('a', { orderKeys: ['u'] })]);
        await queue.add([newDelivery('a', { orderKeys: ['v'] })]);
        await queue.add([newDelivery('b', { orderKeys: ['u'] }), newDelivery('c', { orderKeys: ['v'] })]);
        expect(await claimIds()).toEqual(['a', 'b', 'c']);
      });

      it('differ by every character', async () => {
        await queue.add([
          newDelivery('a', { orderKeys: ['u\0v', 'u'] }),
          newDelivery('b', { orderKeys: ['u\0w'] }),
          newDelivery('c', { orderKeys: ['u'] }),
        ]);
        const [a] = (await claim()).toSorted((one, two) => one.delivery.id.localeCompare(two.delivery.id));
        expect(await claimIds()).toEqual([]);
        await deliver(a as Claim);
        expect(await claimIds()).toEqual(['c']);
      });

      it('stay held by a delivery whose lease has ended', async () => {
        leaseMs = LEASE_MS;
        await queue.add([newDelivery('a', { orderKeys: ['u'] }), newDelivery('b', { orderKeys: ['u'] })]);
        await claimOne();
        await clock.advance(LEASE_MS);
        expect(await claimIds()).toEqual(['a']);
      });
    });

    describe('a lease', () => {
      beforeEach(() => {
        leaseMs = LEASE_MS;
      });

      it('that has ended makes the delivery claimable in its old place, with the progress of the last renewal', async () => {
        const now = clock.now();
        await queue.add([newDelivery('a', { dueAt: now - 5 }), newDelivery('b', { dueAt: now - 4 })]);
        const taken = await claimOne();
        expect(await queue.renew(taken, PROGRESS, LEASE_MS)).toBe(true);
        await clock.advance(waitWithinLease);
        leaseMs = times.longLeaseMs;
        expect(await claimIds(1)).toEqual(['b']);
        await clock.advance(LEASE_MS - waitWithinLease);
        const again = await claimOne();
        expect(again.delivery).toMatchObject({ id: 'a', state: 'sending', progress: PROGRESS });
        expect(again.token).not.toBe(taken.token);
      });

      it('that has ended keeps the round that the claim began, and the start of the retry window', async () => {
        const before = Math.floor(clock.now());
        await queue.add([newDelivery('a')]);
        await claimOne();
        const after = clock.now();
        await clock.advance(LEASE_MS);
        const { progress } = (await claimOne()).delivery;
        expect(progress).toMatchObject({ rounds: 1, attempts: [] });
        expect(progress.firstAttemptAt).toBeGreaterThanOrEqual(before);
        // The server determines the time of the claim by its own clock, which was never set.
        expect(progress.firstAttemptAt).toBeLessThanOrEqual(isLoose ? clock.now() + CLOCKS_MS : after);
        // It stays from the second claim on, however often a process is killed.
        await clock.advance(LEASE_MS);
        const third = (await claimOne()).delivery.progress;
        expect(third).toMatchObject({ rounds: 2, firstAttemptAt: progress.firstAttemptAt });
      });

      it('that is renewed lasts from then', async () => {
        await queue.add([newDelivery('a')]);
        const taken = await claimOne();
        await clock.advance(waitWithinLease);
        expect(await queue.renew(taken, NO_PROGRESS, LEASE_MS)).toBe(true);
        await clock.advance(waitWithinLease);
        expect(await claimIds()).toEqual([]);
        expect(await deliver(taken)).toBe(true);
      });

      it('of another claim invalidates the old token, for renewing and settling', async () => {
        await queue.add([newDelivery('a')]);
        const old = await claimOne();
        await clock.advance(LEASE_MS);
        leaseMs = times.longLeaseMs;
        const taken = await claimOne();
        expect(await queue.renew(old, PROGRESS, LEASE_MS)).toBe(false);
        expect(await deliver(old)).toBe(false);
        expect(await retryAt(old, 0)).toBe(false);
        expect(taken.delivery.progress).toMatchObject({ rounds: 1, attempts: [] });
        expect(await deliver(taken)).toBe(true);
        expect(await queue.renew(taken, PROGRESS, LEASE_MS)).toBe(false);
      });
    });

    it('returns the lanes with unsettled deliveries, including those in flight', async () => {
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

    if (openOther !== undefined) {
      it('announces the lane when another process adds deliveries, until the watch ends', async () => {
        const other = await openOther(clock);
        const lanes: LaneId[] = [];
        const end = queue.watch?.((lane) => lanes.push(lane));
        // Adds again and again, because a queue on a server announces nothing before it is connected.
        let added = 0;
        const isAnnounced = async (): Promise<boolean> => {
          await other.add([newDelivery(`other-${added++}`)]);
          return lanes.length > 0;
        };
        await until(isAnnounced, 'an announcement');
        expect(lanes[0]).toEqual(LANE);
        end?.();
        await other.close();
      });
    }

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

    it('behaves like a naive model for any order of calls', async () => {
      await fc.assert(
        fc.asyncProperty(isLoose ? timelessCommands : commands, async (list) => {
          const modelClock = newClock();
          const opened = await open(modelClock);
          try {
            await checkAgainstModel(opened, { clock: modelClock, list, isLoose });
          } finally {
            await opened.close();
          }
        }),
        { numRuns: modelRuns },
      );
    });
  });
}
