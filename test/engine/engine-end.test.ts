import { describe, expect, it } from 'vitest';
import { LANE } from '../queue/new-delivery.ts';
import {
  A,
  after,
  answer,
  B,
  createHarness,
  entries,
  startHarness,
  failure,
  heldReceiver,
} from './harness.ts';

describe('close', () => {
  it('finishes the attempts in flight and leaves the rest in the queue', async () => {
    const held = heldReceiver();
    const harness = startHarness(held.receiver, { delivery: { concurrency: 2 } });
    await harness.engine.submit('web', entries(5));
    await harness.clock.advance(0);
    let isClosed = false;
    const closed = harness.engine.close().then(() => (isClosed = true));
    held.release(answer(200));
    await harness.clock.advance(0);
    expect([isClosed, harness.settled().length, harness.requests.length]).toEqual([false, 1, 2]);
    held.release(answer(200));
    await closed;
    expect([harness.settled().length, harness.requests.length]).toEqual([2, 2]);
    const { claims } = await harness.queue.claim({ ...LANE, limit: 9, leaseMs: 1 });
    expect(claims.map(({ delivery }) => delivery.progress.rounds)).toEqual([0, 0, 0]);
    expect(harness.clock.pendingTimers).toBe(0);
  });

  it('starts no further attempt of a round, and does not count the round', async () => {
    const held = heldReceiver();
    const harness = startHarness(held.receiver, { urls: [A, B] });
    const id = await harness.send();
    await harness.clock.advance(0);
    const closed = harness.engine.close();
    held.release(answer(503));
    await closed;
    expect(harness.requests.map(({ url }) => url)).toEqual([A]);
    const { claims } = await harness.queue.claim({ ...LANE, limit: 9, leaseMs: 1 });
    expect(claims).toMatchObject([
      { delivery: { id, progress: { rounds: 0, attempts: [{ url: A, status: 503 }] } } },
    ]);
  });

  it('resolves at once, and repeatedly, when nothing is in flight', async () => {
    const { engine, clock } = createHarness(() => answer(200));
    await engine.close();
    engine.start();
    await engine.close();
    await engine.abort();
    expect(clock.pendingTimers).toBe(0);
  });

  it('cancels the timers of waiting deliveries', async () => {
    const harness = startHarness(() => answer(503), { pollMs: 1_000 });
    await harness.sendAndAdvance(0);
    expect(harness.clock.pendingTimers).toBeGreaterThan(0);
    await harness.engine.close();
    expect(harness.clock.pendingTimers).toBe(0);
  });
});

describe('abort', () => {
  it('ends the attempts in flight, whose deliveries keep their state and due time', async () => {
    const harness = startHarness((request) => after(harness.clock, 5_000, request, answer(200)), {
      urls: [A, B],
    });
    const id = await harness.send();
    const addedAt = harness.clock.now();
    await harness.clock.advance(100);
    await harness.engine.abort();
    expect(harness.clock.pendingTimers).toBe(0);
    expect(harness.requests).toHaveLength(1);
    expect(harness.events.map(({ kind }) => kind)).toEqual(['attempt', 'rescheduled']);
    const { claims } = await harness.queue.claim({ ...LANE, limit: 1, leaseMs: 1 });
    expect(claims).toMatchObject([
      {
        delivery: {
          id,
          dueAt: addedAt,
          progress: {
            rounds: 0,
            firstAttemptAt: addedAt,
            rejectedBy: [],
            attempts: [{ url: A, error: 'aborted' }],
          },
        },
      },
    ]);
  });

  it('does not count the aborted round, even if no webhook was left to ask', async () => {
    const harness = startHarness((request) => after(harness.clock, 5_000, request, answer(200)), {
      delivery: { retryForMs: 0 },
    });
    await harness.sendAndAdvance(100);
    await harness.engine.abort();
    expect(harness.events.at(-1)).toMatchObject({
      kind: 'rescheduled',
      delivery: { progress: { rounds: 0 } },
    });
  });

  it('speeds up a pending close', async () => {
    const harness = startHarness((request) => after(harness.clock, 5_000, request, answer(200)));
    await harness.sendAndAdvance(100);
    const closed = harness.engine.close();
    await harness.engine.abort();
    await closed;
    expect(harness.settled()).toEqual([]);
  });

  it('keeps a success of the same round', async () => {
    const harness = startHarness(
      (request) => (request.url === A ? answer(200) : after(harness.clock, 5_000, request, answer(200))),
      { urls: [A, B], delivery: { strategy: 'broadcast' } },
    );
    await harness.sendAndAdvance(0);
    await harness.engine.abort();
    expect(harness.onlySettled().state).toBe('delivered');
  });

  it('of the transport by another caller counts as a failure', async () => {
    const harness = startHarness((_, turn) => (turn === 0 ? failure('aborted') : answer(200)));
    await harness.sendAndAdvance(400);
    expect(harness.requests).toHaveLength(1);
    await harness.clock.advance(600);
    expect(harness.onlySettled().progress.rounds).toBe(2);
  });
});
