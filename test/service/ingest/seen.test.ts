import { describe, expect, it } from 'vitest';
import { MemorySeen, SEEN_FOR_MS } from '../../../src/service/ingest/seen.ts';
import { FakeClock } from '../../fake-clock.ts';

const STORED = Promise.resolve();

describe('MemorySeen', () => {
  it('knows what was added to the source, whatever its length', async () => {
    const seen = new MemorySeen(new FakeClock());
    const long = 'x'.repeat(30_000);
    await seen.add('web', ['a', long], STORED);
    expect(await seen.among('web', ['a', 'b', long, `${long}y`])).toEqual(new Set(['a', long]));
    expect(await seen.among('app', ['a'])).toEqual(new Set());
  });

  it('knows nothing of what could not be stored', async () => {
    const seen = new MemorySeen(new FakeClock());
    await expect(seen.add('web', ['a'], Promise.reject(new Error('full')))).rejects.toThrow('full');
    expect(await seen.among('web', ['a'])).toEqual(new Set());
  });

  it('forgets after 24 hours', async () => {
    const clock = new FakeClock();
    const seen = new MemorySeen(clock);
    await seen.add('web', ['a'], STORED);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['a'])).toEqual(new Set(['a']));
    await clock.advance(1);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    await seen.add('web', ['b'], STORED);
    expect(seen.size).toBe(1);
  });

  it('remembers the latest so many', async () => {
    const seen = new MemorySeen(new FakeClock(), 2);
    await seen.add('web', ['a', 'b'], STORED);
    await seen.add('web', ['a', 'c'], STORED);
    expect(await seen.among('web', ['a', 'b', 'c'])).toEqual(new Set(['a', 'c']));
  });
});
