import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { settledState } from '../../src/idempotence/run/settled-state.ts';

describe('settledState', () => {
  it.each([
    {
      title: 'settles while only the order of lines changes',
      states: ['1\n2', '2\n1'],
      isSettled: true,
    },
    { title: 'does not settle while lines change', states: ['1\n2', '1\n3'], isSettled: false },
  ])('$title', async ({ states, isSettled }) => {
    let reads = 0;
    const read = async (): Promise<string> => states[reads++ % states.length] ?? '';
    const { signal } = new AbortController();
    const options = { read, clock: systemClock, signal, quietMs: 200, timeoutMs: 1_000 };
    expect(await settledState(options)).toMatchObject({ isSettled });
  });
});
