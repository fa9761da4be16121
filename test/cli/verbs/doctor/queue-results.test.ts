import { describe, expect, it } from 'vitest';
import { storeResults } from '../../../../src/cli/verbs/doctor/queue-results.ts';
import { QueueError } from '../../../../src/errors.ts';

const ABSENT = { kind: 'absent', file: '/data/hooks.db', freeBytes: 2 ** 30, problem: undefined } as const;

describe('storeResults', () => {
  it.each([
    ['warns about', false, 'warn'],
    ['fails for', true, 'fail'],
  ])('%s a Node that cannot create the queue, if the config needs it: %s', (_, isNeeded, status) => {
    const engineProblem = new QueueError('SQLite is required', { hint: 'install it' });
    expect(storeResults({ ...ABSENT, engineProblem }, { isNeeded })[0]).toEqual({
      check: 'store',
      status,
      said: 'SQLite is required',
      hint: 'install it',
    });
    expect(storeResults({ ...ABSENT, engineProblem: undefined }, { isNeeded })[0]?.status).toBe('ok');
  });
});
