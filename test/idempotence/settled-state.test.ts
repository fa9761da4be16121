import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { settledState } from '../../src/idempotence/run/settled-state.ts';

describe('settledState', () => {
  it.each([
    ['settles while only the order of lines changes', ['1\n2', '2\n1'], true],
    ['does not settle while lines change', ['1\n2', '1\n3'], false],
  ])('%s', async (_, states, isSettled) => {
    let reads = 0;
    const read = async (): Promise<string> => states[reads++ % states.length] ?? '';
    const { signal } = new AbortController();
    const options = { read, clock: systemClock, signal, quietMs: 200, timeoutMs: 1_000 };
    expect(await settledState(options)).toMatchObject({ isSettled });
  });
});
