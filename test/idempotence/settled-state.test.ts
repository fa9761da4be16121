import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { settledState } from '../../src/idempotence/run/settled-state.ts';

describe('a state', () => {
  it.each([
    {
      title: 'is settled when only the order of its lines changes',
      states: ['1\n2', '2\n1'],
      isSettled: true,
    },
    { title: 'is not settled while its lines change', states: ['1\n2', '1\n3'], isSettled: false },
  ])('$title', async ({ states, isSettled }) => {
    let reads = 0;
    const read = async (): Promise<string> => states[reads++ % states.length] ?? '';
    const { signal } = new AbortController();
    const options = { read, clock: systemClock, signal, quietMs: 200, timeoutMs: 1_000 };
    expect(await settledState(options)).toMatchObject({ isSettled });
  });
});
