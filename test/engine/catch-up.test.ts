import { describe, expect, it } from 'vitest';
import { answer, startHarness, type Harness } from './harness.ts';

const MINUTE_MS = 60_000;

/** Sends messages to a receiver that is down, and lets it come back after some minutes. */
async function downFor(minutes: number, count: number): Promise<Harness & { readonly recover: () => void }> {
  let isDown = true;
  const harness = startHarness(
    (_, turn) => {
      if (!isDown) return answer(200);
      return turn === 0 ? answer(503, { retryAfter: '3600' }) : answer(503);
    },
    { random: Math.random },
  );
  for (let sent = 0; sent < count; sent++) await harness.send();
  await harness.clock.advance(minutes * MINUTE_MS);
  return { ...harness, recover: () => (isDown = false) };
}

describe('after an outage', () => {
  it('the first success makes all waiting deliveries due, except one whose Retry-After has not passed', async () => {
    const harness = await downFor(10, 500);
    expect(harness.settled()).toEqual([]);
    harness.recover();
    // With 500 that wait at most 10 minutes, one is due within some seconds.
    while (harness.settled().length === 0) await harness.clock.advance(100);
    await harness.clock.advance(2_000);
    expect(harness.settled()).toHaveLength(499);
    await harness.clock.advance(40 * MINUTE_MS);
    expect(harness.settled()).toHaveLength(499);
    await harness.clock.advance(10 * MINUTE_MS);
    expect(harness.settled()).toHaveLength(500);
  });

  it('a destination that fails again is not attempted by all deliveries at once', async () => {
    let left = 1;
    const harness = startHarness(() => (left-- === 500 ? answer(200) : answer(503)), { random: Math.random });
    for (let sent = 0; sent < 500; sent++) await harness.send();
    await harness.clock.advance(5 * MINUTE_MS);
    left = 500;
    while (harness.settled().length === 0) await harness.clock.advance(100);
    const before = harness.requests.length;
    await harness.clock.advance(1_000);
    // The success starts the slow pace, and the failures keep it.
    expect(harness.requests.length - before).toBeLessThanOrEqual(40);
  });
});
