import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { readDeletionRequest } from '../../src/deletion/read-request.ts';
import type { DeletionStore } from '../../src/deletion/state.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../src/stores/sqlite/file/store.ts';
import {
  DELETION_TABLES,
  forgetDeletions,
  SqliteDeletionStore,
} from '../../src/stores/sqlite/sqlite-deletion-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { MemoryDeletionStore } from './memory-deletion-store.ts';
import { deletionSuite } from './conformance.ts';

async function openFile(): Promise<Store> {
  const file = join(temporaryFolder(), 'hooks.db');
  const store = await openStore(file, { clock: systemClock, tables: [DELETION_TABLES] });
  onTestFinished(() => store.close());
  return store;
}

const STORES: Readonly<Record<string, () => Promise<DeletionStore>>> = {
  memory: async () => new MemoryDeletionStore(),
  'a file': async () => new SqliteDeletionStore(await openFile()),
};

for (const [name, open] of Object.entries(STORES)) {
  describe(`a deletion request in ${name}`, () => deletionSuite(open));
}

describe('a file that forgets deletion requests', () => {
  it('forgets a request with 100,000 deliveries in steps of at most 50 ms', async () => {
    const store = await openFile();
    const deletions = new SqliteDeletionStore(store);
    const ids = Array.from({ length: 100_000 }, (_, index) => `d${index}`);
    const request = { userIds: ['u'], createdAt: 1, deliveryIds: new Map([['web', ids]]) };
    await deletions.add({ ...request, id: 'large' }, Promise.resolve());
    for (const id of ['small', 'smaller']) {
      await deletions.add({ ...request, id, deliveryIds: new Map([['web', ['d']]]) }, Promise.resolve());
    }
    await deletions.add({ ...request, id: 'late', createdAt: 9 }, Promise.resolve());
    const took: number[] = [];
    for (let mayBeMore = true; mayBeMore;) {
      mayBeMore = await store.write((sql) => {
        const startedAt = process.cpuUsage();
        const result = forgetDeletions(sql, 5);
        const { user, system } = process.cpuUsage(startedAt);
        took.push((user + system) / 1_000);
        return result;
      });
    }
    expect(took.length).toBeGreaterThanOrEqual(100);
    expect(Math.max(...took)).toBeLessThan(50);
    for (const id of ['large', 'small', 'smaller']) expect(await deletions.get(id)).toBeUndefined();
    expect((await deletions.get('late'))?.sources['web']?.deliveries).toBe(100_000);
    expect(await store.read((sql) => sql('SELECT count(*) AS n FROM deletion_deliveries').get())).toEqual({
      n: 100_000,
    });
  });
});

describe('readDeletionRequest', () => {
  it('removes duplicate names', () => {
    expect(readDeletionRequest({ userIds: ['a', 'b', 'a'], sources: ['web'] })).toEqual({
      userIds: ['a', 'b'],
      sources: ['web'],
    });
    expect(readDeletionRequest({ userIds: ['a'], sources: null })).toEqual({ userIds: ['a'] });
  });

  it.each([
    [[], 'Expected a deletion request to be a JSON object, got an empty list'],
    [{}, 'Expected `userIds` to be a list of at least one string, got nothing'],
    [{ userIds: [] }, 'Expected `userIds` to be a list of at least one string, got an empty list'],
    [{ userIds: 'u1' }, 'Expected `userIds` to be a list of at least one string, got a string'],
    [{ userIds: ['a', 5] }, 'Expected `userIds[1]` to be a non-empty string, got a number'],
    [
      { userIds: ['a'], sources: [''] },
      'Expected `sources[0]` to be a non-empty string, got an empty string',
    ],
  ])('rejects %j', (input, sentence) => {
    expect(() => readDeletionRequest(input)).toThrow(sentence);
  });
});
