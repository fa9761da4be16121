import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { RetryTurns } from '../../../../../src/cli/verbs/replay/load/retry-turns.ts';

/** Starts two waits, and returns the numbers of those that have ended. */
async function waits(turns: RetryTurns, ms: number): Promise<number[]> {
  const ended: number[] = [];
  for (const number of [1, 2]) void turns.wait(ms).then(() => ended.push(number));
  await delay(50);
  return ended;
}

describe('the turns of retries', () => {
  it('are given one by one to retries whose time has come', async () => {
    const turns = new RetryTurns();
    const ended = await waits(turns, 1);
    expect(ended).toEqual([]);
    expect(turns.take()).toBe(true);
    await delay(0);
    expect(ended).toEqual([1]);
    expect([turns.take(), turns.take()]).toEqual([true, false]);
  });

  it('are not needed when no message is due any more', async () => {
    const turns = new RetryTurns();
    const ended = await waits(turns, 1);
    turns.release();
    await delay(0);
    expect(ended).toEqual([1, 2]);
    expect(await waits(turns, 1)).toEqual([1, 2]);
    turns.open();
    expect(await waits(turns, 1)).toEqual([]);
  });

  it('end all at once, before their time and after', async () => {
    const turns = new RetryTurns();
    const ended = await waits(turns, 600_000);
    expect([ended.length, turns.take()]).toEqual([0, false]);
    turns.end();
    await delay(0);
    expect(ended).toEqual([1, 2]);
    expect(await waits(turns, 600_000)).toEqual([1, 2]);
  });
});
