import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../src/attempt-record.ts';
import { NO_PROGRESS, type DeliveryState } from '../../src/queue/delivery.ts';
import type { QueueInspection } from '../../src/queue/inspection.ts';
import type { Queue } from '../../src/queue/queue.ts';
import type { TestClock } from './conformance.ts';
import { claim, claimOne, LANE, newDelivery } from './new-delivery.ts';

const ATTEMPT: AttemptRecord = { at: 1, url: 'https://a.example/', round: 1, result: 'retryable', ms: 2 };
const PROGRESS = { ...NO_PROGRESS, rounds: 3, firstAttemptAt: 1, attempts: [ATTEMPT] };
const ALL: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
const RETRY_MS = 60_000;
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 rojo=1';

export interface Inspected {
  /** An empty queue. */
  readonly queue: Queue;
  /** An inspection of the same store, in any process. */
  readonly inspection: QueueInspection;
  readonly clock: TestClock;
  readonly close: () => Promise<void>;
}

/** Maximum difference between the clocks of a server and of this process, which both run for minutes. */
const DRIFT_MS = 2_000;

/** Tests that every inspection passes. `isLoose`: time is real, and lists are by lane and state, not in the order of adding. */
export function inspectionConformance(
  name: string,
  open: () => Promise<Inspected>,
  { isLoose = false } = {},
): void {
  const inOrder = (ids: readonly string[]): readonly string[] => (isLoose ? ids.toSorted() : ids);

  describe(`${name}, inspected`, () => {
    let clock: TestClock;
    let queue: Queue;
    let inspection: QueueInspection;
    let close: () => Promise<void>;
    /** Expects a time between the call and now, give or take DRIFT_MS. */
    const since = (time: number): unknown =>
      expect.toSatisfy((at: number) =>
        isLoose ? at >= time - DRIFT_MS && at <= clock.now() + DRIFT_MS : at === time,
      );

    beforeEach(async () => {
      ({ queue, inspection, clock, close } = await open());
    });

    afterEach(() => close());

    const claimIds = async (): Promise<readonly string[]> =>
      inOrder((await claim(queue)).map(({ delivery }) => delivery.id));
    const markDead = async (id: string, reason: 'rejected' | 'exhausted' = 'rejected'): Promise<void> => {
      await queue.add([newDelivery(id, { orderKeys: ['u'], trace: TRACE })]);
      expect(await queue.settle(await claimOne(queue), { state: 'dead', reason, progress: PROGRESS })).toBe(
        true,
      );
    };
    const ids = async (states = ALL, selection = {}): Promise<readonly string[]> =>
      inOrder((await inspection.list({ states, limit: 100, ...selection })).deliveries.map(({ id }) => id));

    let retryAt = 0;

    /** One delivery in each state, with the state as its id; `held` is behind `sending`. */
    async function oneOfEach(): Promise<void> {
      await markDead('dead');
      await queue.add([newDelivery('delivered')]);
      await queue.settle(await claimOne(queue), { state: 'delivered', progress: PROGRESS });
      await queue.add([newDelivery('retrying')]);
      await queue.settle(await claimOne(queue), {
        state: 'retrying',
        dueAt: (retryAt = clock.now() + RETRY_MS),
        progress: PROGRESS,
      });
      await queue.add([newDelivery('sending', { orderKeys: ['u'] })]);
      await claimOne(queue);
      await queue.add([newDelivery('held', { orderKeys: ['u'] }), newDelivery('pending', { dueAt: 9 })]);
    }

    it('counts by lane and state, and returns the next due time', async () => {
      await oneOfEach();
      await queue.add([
        newDelivery('other', { source: 'app', state: 'dead', reason: 'invalid', detail: 'no event' }),
      ]);
      const none = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };
      expect(await inspection.stats()).toEqual([
        { source: 'app', destination: 'Webhooks', ...none, dead: 1 },
        { ...LANE, pending: 2, sending: 1, retrying: 1, delivered: 1, dead: 1, nextDueAt: 9 },
      ]);
    });

    it('returns the attempts of the latest delivered deliveries only', async () => {
      await oneOfEach();
      expect(await inspection.lastDelivered(10)).toEqual([{ ...LANE, attempts: [ATTEMPT] }]);
      await queue.add([newDelivery('newer')]);
      const [newer] = (await claim(queue)).filter(({ delivery }) => delivery.id === 'newer');
      if (newer !== undefined) await queue.settle(newer, { state: 'delivered', progress: NO_PROGRESS });
      expect(await inspection.lastDelivered(10)).toHaveLength(2);
      expect(await inspection.lastDelivered(1)).toEqual([{ ...LANE, attempts: [] }]);
    });

    it('lists the requested states, since a time, page by page', async () => {
      await oneOfEach();
      expect(await ids()).toEqual(inOrder(['dead', 'delivered', 'retrying', 'sending', 'held', 'pending']));
      for (const state of ['dead', 'delivered', 'retrying', 'sending'] as const) {
        expect(await ids([state])).toEqual([state]);
      }
      expect(await ids(['pending'])).toEqual(['held', 'pending']);
      await queue.add([newDelivery('late', { createdAt: 50 })]);
      expect(await ids(ALL, { since: 50 })).toEqual(['late']);
      const first = await inspection.list({ states: ALL, limit: 5 });
      const rest = await inspection.list({ states: ALL, limit: 5, after: first.next ?? 0 });
      expect([first.deliveries.length, rest.deliveries.length, rest.next]).toEqual([5, 2, undefined]);
    });

    it('returns all fields of a delivery', async () => {
      const startedAt = clock.now();
      await oneOfEach();
      const { body, ...rest } = (await inspection.get('retrying')) ?? { body: new Uint8Array() };
      expect({ ...rest, body: new Uint8Array(body) }).toEqual({
        ...newDelivery('retrying'),
        body: new Uint8Array(newDelivery('retrying').body),
        state: 'retrying',
        dueAt: retryAt,
        progress: PROGRESS,
      });
      expect(await inspection.get('dead')).toMatchObject({
        state: 'dead',
        reason: 'rejected',
        settledAt: since(startedAt),
      });
      expect(await inspection.get('nobody')).toBeUndefined();
    });

    it('returns the states of known deliveries', async () => {
      await oneOfEach();
      const asked = ['dead', 'delivered', 'retrying', 'sending', 'pending', 'nobody'];
      expect(Object.fromEntries(await inspection.states(asked))).toEqual({
        dead: 'dead',
        delivered: 'delivered',
        retrying: 'retrying',
        sending: 'sending',
        pending: 'pending',
      });
    });

    it('retries a dead letter with a new window, its attempts and its trace', async () => {
      await markDead('a', 'exhausted');
      const retriedAt = clock.now();
      expect(await inspection.retry(['a'])).toEqual(['retried']);
      expect((await inspection.get('a'))?.state).toBe('pending');
      const { delivery } = await claimOne(queue);
      expect(delivery).toMatchObject({
        id: 'a',
        trace: TRACE,
        dueAt: since(retriedAt),
        progress: { ...NO_PROGRESS, attempts: [ATTEMPT] },
      });
    });

    it('keeps and retries a dead letter of another queue, with its attempts', async () => {
      const dead = { state: 'dead', reason: 'exhausted', settledAt: 7 } as const;
      await queue.add([newDelivery('a', { ...dead, progress: PROGRESS })]);
      expect(await inspection.get('a')).toMatchObject({ ...dead, progress: PROGRESS });
      expect(await inspection.retry(['a'])).toEqual(['retried']);
      expect(await ids(['pending'])).toEqual(['a']);
      expect(await ids(['dead'])).toEqual([]);
      expect((await claimOne(queue)).delivery.progress.attempts).toEqual([ATTEMPT]);
    });

    it('retries behind waiting deliveries with the same order keys, and before later ones', async () => {
      await markDead('a');
      await queue.add([newDelivery('b', { orderKeys: ['u'] })]);
      await inspection.retry(['a']);
      await queue.add([newDelivery('c', { orderKeys: ['u'] })]);
      for (const id of ['b', 'a', 'c']) {
        const [only] = await claim(queue);
        expect(only?.delivery.id).toBe(id);
        if (only !== undefined) await queue.settle(only, { state: 'delivered', progress: PROGRESS });
      }
    });

    it('retries only dead letters, and returns why', async () => {
      await oneOfEach();
      await queue.add([newDelivery('invalid', { state: 'dead', reason: 'invalid', detail: 'no event' })]);
      const asked = ['nobody', 'delivered', 'retrying', 'sending', 'pending', 'invalid', 'dead', 'dead'];
      expect(await inspection.retry(asked)).toEqual([
        'unknown',
        'delivered',
        'waiting',
        'waiting',
        'waiting',
        'invalid',
        'retried',
        'waiting',
      ]);
    });

    it('makes deliveries due now, even if a webhook asked for a longer wait', async () => {
      await oneOfEach();
      const asked = ['nobody', 'delivered', 'dead', 'sending', 'held', 'pending', 'retrying'];
      expect(await inspection.makeDue(asked)).toEqual([
        'unknown',
        'delivered',
        'dead',
        'sending',
        'due',
        'due',
        'due',
      ]);
      const due = await inspection.get('retrying');
      expect(due).toMatchObject({ state: 'retrying', progress: { ...PROGRESS, notBefore: {} } });
      expect(due?.dueAt).toBeLessThanOrEqual(clock.now());
      expect(await claimIds()).toEqual(inOrder(['pending', 'retrying']));
    });

    it('drops deliveries that are not in flight, and releases those that they held back', async () => {
      await oneOfEach();
      await queue.add([
        newDelivery('first', { orderKeys: ['v'] }),
        newDelivery('second', { orderKeys: ['v'] }),
        newDelivery('third', { orderKeys: ['v'] }),
      ]);
      expect(
        await inspection.drop(['first', 'dead', 'delivered', 'retrying', 'sending', 'held', 'nobody']),
      ).toEqual(['dropped', 'dropped', 'dropped', 'dropped', 'sending', 'dropped', 'unknown']);
      expect(await ids()).toEqual(inOrder(['sending', 'pending', 'second', 'third']));
      expect(await claimIds()).toEqual(inOrder(['second', 'pending']));
    });
  });
}
