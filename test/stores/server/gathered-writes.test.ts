import { describe, expect, it } from 'vitest';
import { QueueError } from '../../../src/errors.ts';
import { GatheredWrites } from '../../../src/stores/server/postgres/gathered-writes.ts';

/** Writes that end when the test says so. */
function gathered(most = 10): {
  readonly writes: string[][];
  readonly write: (...items: readonly string[]) => Promise<string>;
  readonly end: (error?: unknown) => Promise<void>;
} {
  const writes: string[][] = [];
  let ends: ((error?: unknown) => void) | undefined;
  const all = new GatheredWrites<string>({
    most,
    write: (items) =>
      new Promise((resolve, reject) => {
        writes.push([...items]);
        ends = (error) => (error === undefined ? resolve() : reject(error));
      }),
  });
  return {
    writes,
    write: (...items) =>
      all.write(items).then(
        () => 'written',
        (error: Error) => error.message,
      ),
    end: async (error) => {
      ends?.(error);
      await new Promise(setImmediate);
    },
  };
}

function sqlError(code: string): Error {
  return Object.assign(new Error(code), { code });
}

describe('gathered writes', () => {
  it('write the first call at once, and later calls together', async () => {
    const { writes, write, end } = gathered();
    const answers = [write('a'), write('b', 'c'), write('d')];
    expect(writes).toEqual([['a']]);
    await end();
    expect(writes).toEqual([['a'], ['b', 'c', 'd']]);
    await end();
    expect(await Promise.all(answers)).toEqual(['written', 'written', 'written']);
  });

  it('limit the items of a write, and never split a call', async () => {
    const { writes, write, end } = gathered(3);
    const answers = [write('a'), write('b', 'c'), write('d', 'e'), write('f', 'g', 'h', 'i')];
    for (let count = 0; count < 4; count++) await end();
    await Promise.all(answers);
    expect(writes).toEqual([['a'], ['b', 'c'], ['d', 'e'], ['f', 'g', 'h', 'i']]);
  });

  it('write each call alone when one of several is rejected', async () => {
    const { writes, write, end } = gathered();
    const answers = [write('a'), write('good'), write('bad')];
    await end();
    await end(sqlError('22P02'));
    expect(writes.slice(2)).toEqual([['good']]);
    await end();
    await end(sqlError('22P02'));
    expect(await Promise.all(answers)).toEqual(['written', 'written', '22P02']);
    expect(writes).toEqual([['a'], ['good', 'bad'], ['good'], ['bad']]);
  });

  it('do not retry when the server is lost or full', async () => {
    for (const error of [
      sqlError('ECONNRESET'),
      sqlError('57P01'),
      sqlError('53100'),
      new Error('timeout'),
    ]) {
      const { writes, write, end } = gathered();
      const answers = [write('a'), write('b'), write('c')];
      await end(error);
      await end(error);
      expect(await Promise.all(answers)).toEqual([error.message, error.message, error.message]);
      expect(writes).toEqual([['a'], ['b', 'c']]);
    }
  });

  it('reject calls as busy when too many wait', async () => {
    const all = new GatheredWrites<string>({ most: 1, write: () => new Promise(() => {}) });
    const writing = Array.from({ length: 12 }, () => all.write(['x']));
    for (const each of writing) each.catch(() => {});
    const refused: unknown = await all.write(['x']).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(QueueError);
    expect(refused).toMatchObject({ isBusy: true, message: expect.stringMatching(/^The queue is busy/) });
  });
});
