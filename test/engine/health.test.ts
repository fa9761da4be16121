import { describe, expect, it } from 'vitest';
import type { AttemptError, AttemptResult } from '../../src/engine/round/attempt-result.ts';
import { HEALTHY, healthAfter, LaneHealth, symptomOf, type Health } from '../../src/engine/health.ts';
import { FakeClock } from '../fake-clock.ts';

const THRESHOLD = 3;

function failedTrial(health: Health, now: number): Health {
  return healthAfter(health, { symptom: 'ill', isTrial: true, now }, THRESHOLD);
}

function failures(count: number, from: Health = HEALTHY): Health {
  let health = from;
  for (let time = 0; time < count; time++) {
    health = healthAfter(health, { symptom: 'ill', isTrial: false, now: 0 }, THRESHOLD);
  }
  return health;
}

describe('healthAfter', () => {
  it('pauses for a second after the given number of consecutive failures', () => {
    expect(failures(2)).toEqual({ failures: 2, pauses: 0, pausedUntil: 0 });
    expect(failures(3)).toEqual({ failures: 3, pauses: 1, pausedUntil: 1_000 });
  });

  it('counts from zero after a success', () => {
    expect(healthAfter(failures(2), { symptom: 'well', isTrial: false, now: 0 }, THRESHOLD)).toBe(HEALTHY);
  });

  it('ignores results without a symptom', () => {
    const health = failures(2);
    expect(healthAfter(health, { symptom: 'none', isTrial: false, now: 0 }, THRESHOLD)).toBe(health);
  });

  it('ignores failures of attempts that were in flight when it paused', () => {
    expect(failures(30, failures(3))).toEqual(failures(3));
  });

  it('doubles the pause with each failed trial, up to five minutes', () => {
    let health = failures(3);
    const pauses: number[] = [];
    for (let trial = 0; trial < 12; trial++) {
      const now = health.pausedUntil;
      health = failedTrial(health, now);
      pauses.push((health.pausedUntil - now) / 1_000);
    }
    expect(pauses).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]);
  });

  it('is healthy after any success', () => {
    const ill = failedTrial(failedTrial(failures(3), 5), 10);
    expect(healthAfter(ill, { symptom: 'well', isTrial: false, now: 11 }, THRESHOLD)).toBe(HEALTHY);
  });
});

function failed(error: AttemptError): AttemptResult {
  return { at: 0, ms: 0, result: 'retryable', error };
}

describe('symptomOf', () => {
  it.each([
    ['timeout', 'ill'],
    ['refused', 'ill'],
    ['dns', 'ill'],
    ['reset', 'ill'],
    ['protocol', 'ill'],
    ['tls-expired', 'ill'],
    ['http-5xx', 'ill'],
    ['http-4xx', 'none'],
    ['redirect', 'none'],
    ['blocked-address', 'none'],
    ['aborted', 'none'],
  ] as const)('of %s is %s', (error, symptom) => {
    expect(symptomOf(failed(error))).toBe(symptom);
  });

  it('is well for a delivery', () => {
    expect(symptomOf({ at: 0, ms: 0, result: 'delivered', status: 200 })).toBe('well');
  });
});

function lane(keys: readonly string[]): { clock: FakeClock; health: LaneHealth } {
  const clock = new FakeClock();
  return { clock, health: new LaneHealth(keys, 1, clock) };
}

describe('LaneHealth', () => {
  const ILL = { symptom: 'ill', isTrial: false } as const;

  it('skips an unhealthy webhook only while another one is healthy', () => {
    const { health } = lane(['a', 'b']);
    health.end('a', ILL);
    expect([health.isSkipped('a'), health.isSkipped('b')]).toEqual([true, false]);
    health.end('b', ILL);
    expect([health.isSkipped('a'), health.isSkipped('b')]).toEqual([false, false]);
  });

  it('never skips the only webhook', () => {
    const { health } = lane(['a']);
    health.end('a', ILL);
    expect(health.isSkipped('a')).toBe(false);
  });

  it('allows one trial after the pause, and no other until it ends', async () => {
    const { clock, health } = lane(['a', 'b']);
    health.end('a', ILL);
    await clock.advance(999);
    expect(health.isSkipped('a')).toBe(true);
    await clock.advance(1);
    expect(health.isSkipped('a')).toBe(false);
    expect(health.begin('a')).toBe(true);
    expect(health.isSkipped('a')).toBe(true);
    expect(health.begin('a')).toBe(false);
    health.end('a', { symptom: 'well', isTrial: true });
    expect(health.isSkipped('a')).toBe(false);
  });

  it('allows another trial after one without a result', async () => {
    const { clock, health } = lane(['a', 'b']);
    health.end('a', ILL);
    await clock.advance(1_000);
    health.end('a', { symptom: 'none', isTrial: health.begin('a') });
    expect(health.isSkipped('a')).toBe(false);
    expect(health.begin('a')).toBe(true);
  });

  it('pauses longer after a failed trial', async () => {
    const { clock, health } = lane(['a', 'b']);
    health.end('a', ILL);
    await clock.advance(1_000);
    health.end('a', { symptom: 'ill', isTrial: health.begin('a') });
    await clock.advance(1_999);
    expect(health.isSkipped('a')).toBe(true);
    await clock.advance(1);
    expect(health.isSkipped('a')).toBe(false);
  });
});
