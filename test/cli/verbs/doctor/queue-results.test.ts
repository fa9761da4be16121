import { describe, expect, it } from 'vitest';
import { storeResults } from '../../../../src/cli/verbs/doctor/queue-results.ts';
import { QueueError } from '../../../../src/errors.ts';

const ABSENT = { kind: 'absent', file: '/data/hooks.db', freeBytes: 2 ** 30, problem: undefined } as const;

describe('storeResults', () => {
  it('warns about a Node that cannot create the queue', () => {
    const engineProblem = new QueueError('SQLite is required', { hint: 'install it' });
    expect(storeResults({ ...ABSENT, engineProblem })[0]).toEqual({
      check: 'store',
      status: 'warn',
      said: 'SQLite is required',
      hint: 'install it',
    });
    expect(storeResults({ ...ABSENT, engineProblem: undefined })[0]?.status).toBe('ok');
  });
});
