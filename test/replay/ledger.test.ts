import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllTaken, Latency, Ledger, OUTCOMES } from '../../src/replay/ledger.ts';
import { FakeClock } from '../fake-clock.ts';

const RESUMED = { finished: true, delivered: 5, queued: 0 };

describe('a ledger', () => {
  it('balances after any sequence of calls', () => {
    const step = fc.record({ outcome: fc.constantFrom(...OUTCOMES, undefined), ms: fc.option(fc.nat()) });
    fc.assert(
      fc.property(fc.array(step), fc.nat(5), (steps, skips) => {
        const ledger = new Ledger(new FakeClock());
        for (let count = 0; count < skips; count++) ledger.skip();
        for (const { outcome, ms } of steps) {
          const number = ledger.open();
          if (outcome !== undefined) ledger.close(number, outcome, ms ?? undefined);
        }
        const summary = ledger.summary();
        expect(summary.read).toBe(steps.length);
        expect(OUTCOMES.reduce((sum, outcome) => sum + summary[outcome], 0)).toBe(summary.read);
        expect(summary.skipped).toBe(skips);
      }),
    );
  });

  it('counts open entries as unsent', () => {
    const ledger = new Ledger(new FakeClock());
    ledger.open();
    ledger.close(ledger.open(), 'delivered');
    expect(ledger.summary()).toMatchObject({ read: 2, delivered: 1, unsent: 1 });
  });

  it('rejects closing an entry twice, or an unknown entry', () => {
    const ledger = new Ledger(new FakeClock());
    const number = ledger.open();
    ledger.close(number, 'failed');
    expect(() => ledger.close(number, 'delivered')).toThrow('Expected entry 1 of the ledger to be open');
    expect(() => ledger.close(99, 'delivered')).toThrow('Expected entry 99');
    expect(ledger.summary()).toMatchObject({ read: 1, failed: 1, delivered: 0 });
  });

  it('ends with the time, the rate and the latency', async () => {
    const clock = new FakeClock();
    const ledger = new Ledger(clock);
    ledger.skip();
    ledger.close(ledger.open(), 'delivered', 10);
    ledger.close(ledger.open(), 'invalid');
    await clock.advance(2_000);
    expect(JSON.stringify(ledger.summary())).toBe(
      '{"read":2,"delivered":1,"failed":0,"queued":0,"filtered":0,"invalid":1,"unsent":0,"skipped":1,"ms":2000,"perSecond":0.5,"latencyMs":{"p50":10,"p95":10,"p99":10}}',
    );
  });

  it('counts earlier failures and skips earlier deliveries when it resumes', async () => {
    const clock = new FakeClock();
    const ledger = new Ledger(clock);
    ledger.resume({ isFinished: false });
    for (const outcome of ['failed', 'invalid', 'filtered'] as const) ledger.carry(outcome);
    ledger.skipTaken('delivered');
    ledger.skip();
    ledger.close(ledger.open(), 'delivered', 10);
    await clock.advance(1_000);
    expect(ledger.summary()).toMatchObject({
      read: 4,
      delivered: 1,
      failed: 1,
      invalid: 1,
      filtered: 1,
      skipped: 2,
      // Of this process alone.
      perSecond: 1,
      latencyMs: { p99: 10 },
      resumed: { finished: false, delivered: 1, queued: 0 },
    });
  });

  it.each([
    ['everything was sent', { read: 2, delivered: 2 }, true],
    ['the rest is filtered', { read: 3, delivered: 2, filtered: 1 }, true],
    ['everything is filtered', { read: 1, filtered: 1 }, false],
    ['one failed', { read: 3, delivered: 2, failed: 1 }, false],
    ['nothing at all', { read: 0 }, false],
    ['nothing was left to send', { read: 0, resumed: RESUMED }, true],
    ['one failed before', { read: 1, failed: 1, resumed: RESUMED }, false],
  ])('knows whether a replay succeeded: %s', (_what, counts, isGood) => {
    expect(isAllTaken({ ...new Ledger(new FakeClock()).summary(), ...counts })).toBe(isGood);
  });

  it('has no latency when nothing was attempted', () => {
    expect(new Ledger(new FakeClock()).summary().latencyMs).toEqual({ p50: null, p95: null, p99: null });
  });
});

describe('latency', () => {
  it('is within 1 % of the exact percentiles', () => {
    const durations = fc.array(fc.double({ min: 0.001, max: 1e8, noNaN: true }), {
      minLength: 1,
      maxLength: 300,
    });
    fc.assert(
      fc.property(durations, (values) => {
        const latency = new Latency();
        for (const value of values) latency.add(value);
        const sorted = values.toSorted((a, b) => a - b);
        const found = latency.percentiles();
        for (const [share, got] of [
          [0.5, found.p50],
          [0.95, found.p95],
          [0.99, found.p99],
        ] as const) {
          const exact = sorted[Math.ceil(share * values.length) - 1] ?? Number.NaN;
          expect(Math.abs((got ?? Number.NaN) - exact)).toBeLessThanOrEqual(exact * 0.01 + 0.000501);
        }
      }),
    );
  });

  it('takes durations of zero and of forever', () => {
    const latency = new Latency();
    latency.add(0);
    expect(latency.percentiles().p50).toBe(0);
    latency.add(1e12);
    expect(latency.percentiles().p99).toBeGreaterThan(1e8);
  });
});
