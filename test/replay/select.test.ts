import { describe, expect, it } from 'vitest';
import { readFilter } from '../../src/message/filter.ts';
import { createRewrite, recordedAtOf } from '../../src/replay/rewrite.ts';
import { ReplaySelection } from '../../src/replay/selection.ts';

function take(selection: ReplaySelection, messages: readonly ({ n: number } | undefined)[]): unknown[] {
  return messages.map((message) => selection.takes(message));
}

describe('a selection', () => {
  it('skips the offset and ends at the limit', () => {
    const selection = new ReplaySelection({ offset: 1, limit: 2 });
    expect(take(selection, [{ n: 0 }, { n: 1 }, undefined])).toEqual([false, true, true]);
    expect(selection.isDone).toBe(true);
    expect(selection.takes({ n: 4 })).toBe(false);
  });

  it('filters first, and selects entries other than messages', () => {
    const selection = new ReplaySelection({ filter: readFilter(['n=1']), offset: 1, limit: 2 });
    expect(take(selection, [{ n: 1 }, { n: 2 }, undefined, { n: 1 }])).toEqual([false, false, true, true]);
  });

  it('is done with a limit of 0', () => {
    expect(new ReplaySelection({ limit: 0 }).isDone).toBe(true);
  });
});

describe('a rewrite', () => {
  let ids = 0;
  const now = Date.UTC(2026, 10, 20);
  const rewrite = (timestamps: 'keep' | 'now' | 'shift', messageIds: 'keep' | 'new' = 'keep') =>
    createRewrite({ timestamps, messageIds, now: () => now + 0.4, newId: () => `new-${++ids}` });

  it('keeps everything unless told otherwise', () => {
    const message = { type: 'track', timestamp: 'x', messageId: 'm' };
    expect(rewrite('keep')(message)).toBe(message);
  });

  it('replaces the timestamp by the present time', () => {
    const changed = rewrite('now')({ type: 'track', timestamp: '2020-01-01T00:00:00Z', event: 'x' });
    expect(JSON.stringify(changed)).toBe(
      '{"type":"track","timestamp":"2026-11-20T00:00:00.000Z","event":"x"}',
    );
  });

  it('shifts all timestamps so that the first is now', () => {
    const shift = rewrite('shift');
    const times = ['2020-01-01T00:00:00+02:00', '2020-01-01T00:01:00.500+02:00', '2019-12-31T21:59:59Z'];
    expect(times.map((timestamp) => shift({ timestamp })['timestamp'])).toEqual([
      '2026-11-20T00:00:00.000Z',
      '2026-11-20T00:01:00.500Z',
      '2026-11-19T23:59:59.000Z',
    ]);
  });

  it('keeps invalid timestamps for validation to reject', () => {
    const shift = rewrite('shift');
    for (const message of [{}, { timestamp: 'yesterday' }, { timestamp: 5 }]) {
      expect(shift(message)).toBe(message);
    }
    expect(recordedAtOf({ timestamp: 'yesterday' })).toBeUndefined();
    expect(recordedAtOf({ timestamp: '1970-01-01T00:00:01Z' })).toBe(1_000);
  });

  it('gives a new id to messages that have one', () => {
    expect(rewrite('keep', 'new')({ messageId: 'm', type: 'track' })).toEqual({
      messageId: 'new-1',
      type: 'track',
    });
    expect(rewrite('keep', 'new')({ type: 'track' })).toEqual({ type: 'track' });
  });
});
