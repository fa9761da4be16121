import { beforeEach, describe, expect, it } from 'vitest';
import { ResponseWatch } from '../../src/replay/response-watch.ts';
import { FakeClock } from '../fake-clock.ts';

let clock: FakeClock;
let silences: number;
let watch: ResponseWatch;
beforeEach(() => {
  clock = new FakeClock();
  silences = 0;
  watch = new ResponseWatch({ limitMs: 30_000, onSilence: () => silences++, clock });
});

describe('a watch for responses', () => {
  it('reports once that no response came in time', async () => {
    watch.sent();
    await clock.advance(29_999);
    expect([silences, watch.signal.aborted]).toEqual([0, false]);
    await clock.advance(1);
    expect([silences, watch.signal.aborted]).toEqual([1, true]);
    await clock.advance(100_000);
    expect(silences).toBe(1);
  });

  it('waits again after each response', async () => {
    watch.sent();
    await clock.advance(20_000);
    watch.responded();
    await clock.advance(29_999);
    expect(silences).toBe(0);
    await clock.advance(1);
    expect(silences).toBe(1);
  });

  it('does not expect a response while no message is in flight', async () => {
    watch.sent();
    watch.settled({ isDelivered: true });
    await clock.advance(100_000);
    expect(silences).toBe(0);
    watch.sent();
    await clock.advance(29_999);
    expect(silences).toBe(0);
    await clock.advance(1);
    expect(silences).toBe(1);
  });

  it('does not count a failure as a response', async () => {
    watch.sent();
    watch.sent();
    await clock.advance(20_000);
    watch.settled({ isDelivered: false });
    await clock.advance(10_000);
    expect(silences).toBe(1);
  });

  it('leaves no timer after it is stopped', async () => {
    watch.sent();
    watch.stop();
    await clock.advance(100_000);
    expect(silences).toBe(0);
  });
});
