import { expect, it } from 'vitest';
import { LineLimit } from '../../src/service/line-limit.ts';
import { FakeClock } from '../fake-clock.ts';

it('five dead letters per minute, destination and reason get a line; the others are counted', async () => {
  const clock = new FakeClock(1_000);
  const told: string[] = [];
  const limit = new LineLimit<{ source: string; destination: string; reason: string }>({
    clock,
    onMore: ({ destination, reason }, more) => told.push(`${destination} ${reason} ${more}`),
  });
  const see = (destination: string, times: number): number =>
    Array.from({ length: times }, () =>
      limit.getsLine({ source: 'web', destination, reason: 'exhausted' }),
    ).filter(Boolean).length;
  expect([see('A', 1_000), see('B', 3)]).toEqual([5, 3]);
  await clock.advance(59_000);
  expect([see('A', 10), told]).toEqual([0, []]);
  await clock.advance(1_000);
  expect(told).toEqual(['A exhausted 1005']);
  expect(see('A', 7)).toBe(5);
  limit.close();
  await clock.advance(120_000);
  expect(told).toEqual(['A exhausted 1005', 'A exhausted 2']);
});
