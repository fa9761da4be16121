import { describe, expect, it } from 'vitest';
import { emptyCounts } from '../../src/audience/difference.ts';
import { suspiciousChangeIn } from '../../src/audience/suspicious-change.ts';
import { readMaxChange } from '../../src/cli/verbs/audience/max-change.ts';

function suspicion(
  before: number,
  counts: Partial<ReturnType<typeof emptyCounts>>,
  limit?: string,
  isFirst = false,
) {
  const all = { ...emptyCounts(), ...counts };
  return suspiciousChangeIn(
    { before, counts: all, isFirst },
    limit === undefined ? undefined : readMaxChange(limit),
  );
}

describe('a suspicious change', () => {
  it('is a file without more than half of the members, even of few', () => {
    expect(suspicion(10, { members: 5, removed: 5 })).toBeUndefined();
    expect(suspicion(10, { members: 4, removed: 6 })).toBe('10 members would become 4');
    expect(suspicion(3, { members: 1, removed: 2 })).toBe('3 members would become 1');
    expect(suspicion(1, { members: 0, removed: 1 })).toBeDefined();
  });

  it('is a different file, but not a few changes in a small audience', () => {
    expect(suspicion(200, { members: 200, added: 200, removed: 200 })).toBe(
      '200 members would be added and 200 of 200 removed',
    );
    expect(suspicion(3, { members: 3, added: 2, removed: 2 })).toBeUndefined();
    expect(suspicion(3, { members: 103, added: 100 })).toBeUndefined();
    expect(suspicion(3, { members: 104, added: 101 })).toBeDefined();
    expect(suspicion(1_000, { members: 1_000, added: 250, removed: 250 })).toBeUndefined();
  });

  it('is not new values of the same users, nor repeated values', () => {
    expect(suspicion(1_000, { members: 1_000, changed: 1_000, repeated: 1_000 })).toBeUndefined();
  });

  it('is any change above a limit, and none below it', () => {
    expect(suspicion(200, { members: 201, added: 2, removed: 1 }, '1%')).toBe(
      '3 of 200 members would change',
    );
    expect(suspicion(200, { members: 201, added: 2, removed: 1 }, '1.5%')).toBeUndefined();
    expect(suspicion(200, { members: 200, changed: 3 }, '2')).toBe('3 of 200 members would change');
    expect(suspicion(200, { members: 0, removed: 200 }, '100%')).toBeUndefined();
    expect(suspicion(200, { members: 200 }, '0')).toBeUndefined();
  });

  it('counts the users that the rest of a first sync removes, but not those that it adds', () => {
    expect(suspicion(0, { members: 1_000, added: 1_000 }, undefined, true)).toBeUndefined();
    expect(suspicion(0, { members: 1_000, added: 1_000 }, '10%', true)).toBeUndefined();
    expect(suspicion(200, { members: 1_000, added: 800 }, '1%', true)).toBeUndefined();
    expect(suspicion(200, { members: 201, added: 4, removed: 3 }, '1%', true)).toBe(
      '3 of 200 members would change',
    );
    expect(suspicion(200, { members: 10, removed: 190 }, undefined, true)).toBe(
      '200 members would become 10',
    );
    expect(suspicion(200, { members: 200, added: 200, removed: 200 }, undefined, true)).toBeDefined();
  });
});

describe('a limit', () => {
  it.each(['some', '', '-1', '1.5', '%', '1e3', '5 percent'])('is rejected as %j', (text) => {
    expect(() => readMaxChange(text)).toThrow(
      'Expected `--max-change` to be a percentage or a number of users',
    );
  });
});
