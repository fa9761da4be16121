// Takes minutes: it kills processes that use a queue.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../stores/sqlite/ask.ts';
import { makeProgram, type Program } from '../stores/sqlite/program.ts';
import { KILLS, SEED } from '../torture.ts';
import { expectNothingLeft } from './nothing-left.ts';
import { duplicatesOf, told, type Told } from './told.ts';

const ADDS = 150;

let storm: Program;

beforeAll(async () => {
  storm = await makeProgram('test/queue/storm.ts');
});

afterAll(() => storm.remove());

async function expectAllSettled(file: string, { added, ended }: Told): Promise<void> {
  const settled = new Set(await ask(file, "SELECT id FROM queue WHERE state IN ('delivered', 'dead')"));
  expect(added.filter((id) => !settled.has(id))).toEqual([]);
  expect(new Set(ended).size).toBe(ended.length);
}

/** Expects the first attempts of each order key in the order of adding. */
async function expectInOrder(file: string, { posts }: Told): Promise<void> {
  const first = new Map<string, number>();
  posts.forEach((id, place) => first.set(id, first.get(id) ?? place));
  for (const ids of await ask(
    file,
    `SELECT group_concat(id, ' ') FROM (SELECT id, order_keys FROM deliveries WHERE order_keys <> '[]' ORDER BY seq)
     GROUP BY order_keys`,
  )) {
    const places = ids.split(' ').map((id) => first.get(id) ?? -1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
}

describe(`processes that share a queue (seed ${SEED})`, () => {
  it('deliver everything once, except for retries', async () => {
    const [file, log] = [join(storm.folder, 'calm.db'), join(storm.folder, 'calm.log')];
    const ends = await Promise.all(
      [1, 2, 3].map((number) =>
        storm.run({ file, log, name: `calm${number}`, seed: SEED + number, adds: ADDS }),
      ),
    );
    expect(ends).toMatchObject(ends.map(() => ({ code: 0, stderr: '' })));
    const all = told(log);
    expect(all.added).toHaveLength(3 * ADDS);
    await expectAllSettled(file, all);
    await expectNothingLeft(file);
    await expectInOrder(file, all);
    expect(duplicatesOf(all)).toBe(0);
  });

  it(
    'lose no acknowledged delivery when they are killed',
    async ({ annotate }) => {
      const [file, log] = [join(storm.folder, 'storm.db'), join(storm.folder, 'storm.log')];
      let killed = 0;
      for (let round = 0; killed < KILLS; round++) {
        const ends = await Promise.all(
          [0, 1].map((side) => {
            const seed = SEED + 2 * round + side;
            const name = `storm${round}${side === 0 ? 'a' : 'b'}`;
            return storm.run({ file, log, name, seed, adds: ADDS }, { killAfter: 2 + ((seed * 7919) % 120) });
          }),
        );
        killed += ends.filter(({ signal }) => signal === 'SIGKILL').length;
        expect(ends.map(({ stderr }) => stderr)).toEqual(['', '']);
      }
      const last = await storm.run({ file, log, name: 'last', seed: SEED, adds: 0 });
      expect(last).toMatchObject({ code: 0, stderr: '' });
      const all = told(log);
      await expectAllSettled(file, all);
      await expectNothingLeft(file);
      await expectInOrder(file, all);
      const duplicates = duplicatesOf(all);
      await annotate(`${killed} kills, ${all.added.length} acknowledged, ${duplicates} duplicates`);
      // The most deliveries that a process has in flight at once.
      expect(duplicates).toBeLessThanOrEqual(8 * killed);
    },
    60_000 + KILLS * 5_000,
  );

  it('repeat only deliveries whose process crashed between an attempt and its record', async () => {
    const [file, log] = [join(storm.folder, 'point.db'), join(storm.folder, 'point.log')];
    const crashed = await storm.run({ file, log, name: 'point', seed: SEED, adds: 40, failAt: 10 });
    expect(crashed.signal).toBe('SIGKILL');
    const before = told(log);
    expect(await storm.run({ file, log, name: 'after', seed: SEED, adds: 0 })).toMatchObject({ code: 0 });
    const all = told(log);
    await expectAllSettled(file, all);
    await expectNothingLeft(file);
    const open = before.posts.filter((id) => !before.ended.includes(id));
    const again = all.posts.slice(before.posts.length).filter((id) => before.ended.includes(id));
    expect(open.length).toBeGreaterThan(0);
    expect(again).toEqual([]);
  });
});
