import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS } from '../../src/engine/options.ts';
import { UninterruptedRun } from '../../src/engine/uninterrupted-run.ts';
import { FakeClock } from '../fake-clock.ts';
import { A, after, answer, B, startHarness, failure, heldReceiver, type Harness } from './harness.ts';

const HOUR = 3_600_000;
const WINDOW_MS = DELIVERY_DEFAULTS.retryForMs;

function urlsOf({ requests }: Harness): readonly string[] {
  return requests.map(({ url }) => url);
}

describe('uninterruptedRun', () => {
  it('has begun at the start if there was no interruption', async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const uninterruptedRun = new UninterruptedRun(clock, () => true);
    uninterruptedRun.watch();
    await clock.advance(HOUR);
    expect(uninterruptedRun.since()).toBe(start);
    uninterruptedRun.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('begins again after an interruption, whichever caller asks first', async () => {
    const clock = new FakeClock();
    const uninterruptedRun = new UninterruptedRun(clock, () => true);
    uninterruptedRun.watch();
    await clock.suspend(HOUR);
    const end = clock.now();
    await clock.advance(10_000);
    expect(uninterruptedRun.since()).toBe(end);
    clock.setForward(HOUR);
    expect(uninterruptedRun.since()).toBe(clock.now());
    uninterruptedRun.close();
  });

  it('has no timer while it is not needed, which is no interruption', async () => {
    const clock = new FakeClock();
    const start = clock.now();
    const uninterruptedRun = new UninterruptedRun(clock, () => false);
    uninterruptedRun.watch();
    await clock.advance(HOUR);
    expect(clock.pendingTimers).toBe(0);
    uninterruptedRun.watch();
    expect(uninterruptedRun.since()).toBe(start);
  });
});

describe('a process that is suspended', () => {
  it('beyond the window of waiting deliveries makes one late round', async () => {
    const harness = startHarness(() => answer(503), { urls: [A, B] });
    await harness.sendAndAdvance(HOUR);
    const before = harness.requests.length;
    await harness.clock.suspend(5 * HOUR);
    await harness.clock.advance(HOUR);
    expect(urlsOf(harness).slice(before)).toEqual([A, B]);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('beyond the window during a round makes one late round', async () => {
    const { receiver, release } = heldReceiver();
    const harness = startHarness(receiver, { urls: [A, B] });
    await harness.sendAndAdvance(0);
    await harness.clock.suspend(5 * HOUR);
    for (let turn = 0; turn < 9; turn++) {
      release(failure('timeout'));
      await harness.clock.advance(1_000);
    }
    // The first round is whole; the late round follows it.
    expect(urlsOf(harness)).toEqual([A, B, A, B]);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('beyond a window without another round makes no late round', async () => {
    const { receiver, release } = heldReceiver();
    const harness = startHarness(receiver, { delivery: { retryForMs: 0 } });
    await harness.sendAndAdvance(0);
    await harness.clock.suspend(HOUR);
    release(failure('timeout'));
    await harness.clock.advance(HOUR);
    expect(harness.requests).toHaveLength(1);
    expect(harness.onlySettled()).toMatchObject({ state: 'dead', reason: 'exhausted' });
  });

  it('within the window continues, at once with due deliveries', async () => {
    const harness = startHarness((_, turn) => answer(turn < 3 ? 503 : 200));
    await harness.sendAndAdvance(1_000);
    await harness.clock.suspend(3 * HOUR);
    expect(harness.requests).toHaveLength(3);
    await harness.clock.advance(10_000);
    expect(harness.onlySettled()).toMatchObject({ state: 'delivered', progress: { rounds: 4 } });
  });

  it('longer than its leases does not claim its own deliveries again', async () => {
    const { receiver, release } = heldReceiver();
    const harness = startHarness(receiver, { delivery: { concurrency: 8 } });
    await harness.send({ messageId: 'in flight' });
    await harness.clock.advance(0);
    await harness.clock.suspend(HOUR);
    await harness.send({ messageId: 'new' });
    await harness.clock.advance(0);
    expect(harness.requests).toHaveLength(1);
    release(answer(200));
    await harness.clock.advance(0);
    release(answer(200));
    await harness.clock.advance(0);
    expect(harness.requests).toHaveLength(2);
    expect(harness.settled().map(({ messageId, state }) => [messageId, state])).toEqual([
      ['in flight', 'delivered'],
      ['new', 'delivered'],
    ]);
  });
});

describe('a wall clock that is set forward', () => {
  it('does not shorten the retry window', async () => {
    const harness = startHarness(() => answer(503));
    await harness.sendAndAdvance(HOUR);
    harness.clock.setForward(5 * HOUR);
    await harness.clock.advance(5 * HOUR);
    const { progress, reason } = harness.onlySettled();
    expect(reason).toBe('exhausted');
    const times = progress.attempts.map(({ at }) => at - (progress.firstAttemptAt ?? 0));
    const passed = times.map((time) => (time > 5 * HOUR ? time - 5 * HOUR : time));
    expect(Math.max(...passed)).toBeLessThanOrEqual(WINDOW_MS);
    expect(Math.max(...passed)).toBeGreaterThan(WINDOW_MS - 600_000);
    // The jump shortens only the wait during which it happens.
    expect(times.length).toBeLessThanOrEqual(58);
  });

  it('during a round neither ends nor repeats it', async () => {
    const clock = new FakeClock();
    const harness = startHarness(
      (request, turn) => after(clock, 100, request, turn === 0 ? failure('timeout') : answer(200)),
      { clock, urls: [A, B], delivery: { concurrency: 8 } },
    );
    await harness.sendAndAdvance(50);
    clock.setForward(5 * HOUR);
    await harness.sendAndAdvance(HOUR);
    expect(harness.settled().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
    expect(harness.requests).toHaveLength(4);
  });
});
