import { describe, expect, it } from 'vitest';
import { ClosedError, QueueError } from '../../src/errors.ts';
import { MemoryQueue } from '../../src/stores/memory/memory-queue.ts';
import type { Queue } from '../../src/queue/queue.ts';
import { FakeClock } from '../fake-clock.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { collectUncaught } from '../uncaught.ts';
import { A, after, answer, B, createHarness, startHarness } from './harness.ts';

describe('a queue that fails', () => {
  it.each(['claim', 'settle', 'lanes'] as const)(
    'loses nothing while %s fails, and is retried with a backoff',
    async (method) => {
      const { queue, clock, calls } = failing(5, method);
      const harness = startHarness(() => answer(200), { queue, clock });
      await harness.sendAndAdvance(900);
      expect(calls()).toBeLessThanOrEqual(3);
      await harness.clock.advance(60_000);
      expect(harness.onlySettled().state).toBe('delivered');
      expect(harness.requests).toHaveLength(1);
      const errors = harness.events.filter(({ kind }) => kind === 'error');
      expect(errors).toHaveLength(5);
      expect(errors[0]).toMatchObject({ error: new QueueError('database is locked') });
      await harness.engine.idle();
    },
  );

  it('is not reported if it was closed while a stopping engine queries its lanes', async () => {
    const { queue, clock } = failing(0, 'lanes');
    let close: (() => void) | undefined;
    queue.lanes = () =>
      new Promise((_, reject) => (close = () => reject(new ClosedError('The queue is closed'))));
    const harness = startHarness(() => answer(200), { queue, clock });
    await harness.engine.close();
    close?.();
    await clock.advance(60_000);
    expect(harness.events.filter(({ kind }) => kind === 'error')).toEqual([]);
  });

  it('loses nothing while renewals fail, and causes no further attempt until one succeeds', async () => {
    const { queue, clock } = failing(3, 'renew');
    const harness = startHarness(({ url }) => answer(url === A ? 503 : 200), {
      queue,
      clock,
      urls: [A, B],
    });
    await harness.sendAndAdvance(60_000);
    expect(harness.onlySettled().state).toBe('delivered');
    expect(harness.requests.map(({ url }) => url)).toEqual([A, A, A, A, B]);
    expect(harness.events.filter(({ kind }) => kind === 'error')).toMatchObject(
      [1, 2, 3].map(() => ({ during: 'round', error: new QueueError('database is locked') })),
    );
  });

  it('is not claimed more often when deliveries are added, and at once after a claim succeeds', async () => {
    const { queue, clock, calls } = failing(3, 'claim');
    const harness = startHarness(() => answer(200), { queue, clock });
    for (let sent = 0; sent < 20; sent++) {
      await harness.sendAndAdvance(1);
    }
    expect(calls()).toBe(1);
    await clock.advance(60_000);
    expect(harness.settled()).toHaveLength(20);
    await harness.sendAndAdvance(0);
    expect(harness.settled()).toHaveLength(21);
  });

  it('leaves no timer behind when claims fail during close', async () => {
    const { queue, clock } = failing(Infinity, 'claim');
    const harness = startHarness(() => answer(200), { queue, clock });
    await harness.engine.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['claim', 'settle'] as const)(
    'does not keep the engine from closing if %s always fails',
    async (method) => {
      const { queue, clock } = failing(Infinity, method);
      const harness = startHarness(() => answer(200), { queue, clock });
      await harness.sendAndAdvance(5_000);
      await harness.engine.close();
      expect(harness.settled()).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});

describe('an error of the program in a round', () => {
  it('is reported, and the delivery is tried again later', async () => {
    const harness = startHarness((_, turn) => {
      if (turn < 2) throw new TypeError('x is not a function');
      return answer(200);
    });
    await harness.sendAndAdvance(499);
    expect(harness.requests).toHaveLength(1);
    expect(harness.events).toMatchObject([
      { kind: 'error', during: 'round', error: new TypeError('x is not a function') },
      { kind: 'rescheduled' },
    ]);
    await harness.clock.advance(60_000);
    expect(harness.requests).toHaveLength(3);
    expect(harness.onlySettled().state).toBe('delivered');
  });

  it('ends the delivery with its window if it persists', async () => {
    const harness = startHarness(() => Promise.reject(new Error('always')), {
      delivery: { retryForMs: 10_000 },
    });
    await harness.sendAndAdvance(60_000);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('in one attempt of a broadcast leaves the other attempts recorded', async () => {
    const harness = startHarness(
      ({ url }) => {
        if (url === A) throw new Error('a fault');
        return answer(503);
      },
      { urls: [A, B], delivery: { strategy: 'broadcast', retryForMs: 0 } },
    );
    await harness.sendAndAdvance(0);
    expect(harness.onlySettled().progress.attempts).toMatchObject([{ url: B, status: 503 }]);
  });
});

describe('a listener that throws', () => {
  it('stops no delivery, and its error becomes an uncaught exception', async () => {
    const caught = collectUncaught();
    const harness = startHarness(() => answer(200), {
      onEvent: ({ kind }) => {
        throw new Error(`on ${kind}`);
      },
    });
    await harness.sendAndAdvance(0);
    expect(harness.requests).toHaveLength(1);
    expect(await harness.queue.lanes()).toEqual([]);
    await harness.engine.close();
    expect(caught).toEqual([new Error('on attempt'), new Error('on settled')]);
  });
});

describe('a queue that is shared', () => {
  it('is polled for deliveries of other processes, including new lanes', async () => {
    const harness = startHarness(() => answer(200), { pollMs: 1_000 });
    await harness.engine.idle();
    await harness.queue.add([newDelivery('other'), newDelivery('stray', { destination: 'Gone' })]);
    await harness.clock.advance(999);
    expect(harness.settled()).toEqual([]);
    await harness.clock.advance(1);
    const states = harness.settled().map(({ id, state }) => [id, state]);
    expect(Object.fromEntries(states)).toEqual({ other: 'delivered', stray: 'dead' });
  });

  it('gives a delivery to this process when the lease of another has ended', async () => {
    const harness = createHarness(() => answer(200));
    await harness.send();
    await harness.queue.claim({ source: 'web', destination: 'Webhooks', limit: 1, leaseMs: 20_000 });
    harness.engine.start();
    await harness.clock.advance(19_999);
    expect(harness.requests).toEqual([]);
    await harness.clock.advance(1);
    expect(harness.onlySettled().state).toBe('delivered');
  });

  it('verifies a claim that took longer than an interruption before the first attempt', async () => {
    const harness = createHarness(() => answer(200));
    const { queue, clock } = harness;
    const claim = queue.claim.bind(queue);
    let release: (() => void) | undefined;
    queue.claim = async (request) => {
      const answered = await claim(request);
      await new Promise<void>((resolve) => (release = resolve));
      return answered;
    };
    queue.renew = () => Promise.resolve(false);
    await harness.send();
    harness.engine.start();
    await clock.suspend(60_000);
    release?.();
    await clock.advance(0);
    expect(harness.events).toMatchObject([{ kind: 'lost' }]);
    expect(harness.requests).toEqual([]);
    release?.();
    await harness.engine.abort();
  });

  it('leaves a delivery to the process that has taken it over', async () => {
    const harness = startHarness((request) => after(harness.clock, 100_000, request, answer(503)), {
      urls: [A, B],
    });
    const id = await harness.send();
    await harness.clock.advance(39_000);
    // The attempt hangs beyond its timeout, so the lease ends, and another process claims first.
    harness.queue.renew = () => Promise.resolve(false);
    harness.queue.settle = () => Promise.resolve(false);
    harness.queue.claim = () => Promise.resolve({ claims: [], nextDueAt: undefined });
    await harness.clock.advance(61_000);
    expect(harness.requests.map(({ url }) => url)).toEqual([A]);
    expect(harness.events.at(-1)).toMatchObject({ kind: 'lost', delivery: { id } });
    expect(harness.settled()).toEqual([]);
  });
});

/** A queue in which the first calls of one method fail. */
function failing(
  times: number,
  method: 'claim' | 'renew' | 'settle' | 'lanes',
): { queue: Queue; clock: FakeClock; calls: () => number } {
  const clock = new FakeClock();
  const queue = new MemoryQueue(clock);
  const works = queue[method].bind(queue) as (...args: unknown[]) => Promise<never>;
  let calls = 0;
  queue[method] = (...args: unknown[]): Promise<never> =>
    calls++ < times ? Promise.reject(new QueueError('database is locked')) : works(...args);
  return { queue, clock, calls: () => calls };
}
