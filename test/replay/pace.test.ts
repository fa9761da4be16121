import { describe, expect, it } from 'vitest';
import { createPace, readRate, readSpeed } from '../../src/replay/pace.ts';
import { FakeClock } from '../fake-clock.ts';

/** Waits as a replay does; gives the ms since the start at which each message went. */
async function walk(
  options: { intervalMs?: number; speed?: number },
  recorded: readonly (number | undefined)[],
) {
  const clock = new FakeClock();
  const start = clock.now();
  const pace = createPace({ clock, ...options });
  const times = [];
  for (const at of recorded) {
    await clock.advance(pace.next(at));
    times.push(clock.now() - start);
  }
  return times;
}

describe('a rate', () => {
  it('spreads messages evenly, with the first at once', async () => {
    expect(await walk({ intervalMs: 250 }, [0, 0, 0, 0])).toEqual([0, 250, 500, 750]);
  });

  it('does not make up for a stall with a burst', async () => {
    const clock = new FakeClock();
    const pace = createPace({ clock, intervalMs: 50 });
    pace.next();
    await clock.advance(10_000);
    const waits = Array.from({ length: 5 }, () => pace.next());
    expect(waits).toEqual([0, 0, 0, 50, 100]);
  });

  it('makes up for timers that fire late', async () => {
    const clock = new FakeClock();
    const pace = createPace({ clock, intervalMs: 10 });
    pace.next();
    await clock.advance(pace.next() + 25);
    expect([pace.next(), pace.next(), pace.next()]).toEqual([0, 0, 5]);
  });

  it('is read as messages per time', () => {
    expect([readRate('100/s'), readRate('30/m'), readRate('0.5/s'), readRate('60/h')]).toEqual([
      10, 2_000, 2_000, 60_000,
    ]);
  });

  it('rejects other texts', () => {
    for (const text of ['', '100', '0/s', '-1/s', '1/d', '1e3/s', 'x/s', '1/s/s']) {
      expect(() => readRate(text)).toThrow(
        `Expected \`--rate\` to be messages per second, minute or hour, got ${text}`,
      );
    }
  });
});

describe('a speed', () => {
  it('keeps the recorded gaps', async () => {
    expect(await walk({ speed: 1 }, [1_000, 1_500, 4_000])).toEqual([0, 500, 3_000]);
  });

  it('shortens them by its factor', async () => {
    expect(await walk({ speed: 10 }, [1_000, 1_500, 4_000])).toEqual([0, 50, 300]);
  });

  it('does not wait for messages recorded earlier or without a time', async () => {
    expect(await walk({ speed: 1 }, [1_000, 2_000, 500, undefined, 2_500])).toEqual([
      0, 1_000, 1_000, 1_000, 1_500,
    ]);
  });

  it('combines with a rate', async () => {
    expect(await walk({ speed: 1, intervalMs: 100 }, [0, 1, 2, 1_000])).toEqual([0, 100, 200, 1_000]);
  });

  it('is read as a factor', () => {
    expect([readSpeed('1x'), readSpeed('10x'), readSpeed('0.5x')]).toEqual([1, 10, 0.5]);
    for (const text of ['', '10', '0x', 'x', '-1x']) {
      expect(() => readSpeed(text)).toThrow('Expected `--speed`');
    }
  });
});

it('never waits without a rate and a speed', async () => {
  expect(await walk({}, [0, 5_000])).toEqual([0, 0]);
});
