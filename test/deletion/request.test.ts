import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { readDeletionRequest } from '../../src/deletion/read-request.ts';
import type { DeletionStore } from '../../src/deletion/state.ts';
import { openStore } from '../../src/stores/sqlite/file/open-store.ts';
import { SqliteDeletionStore, DELETION_TABLES } from '../../src/stores/sqlite/sqlite-deletion-store.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { MemoryDeletionStore } from './memory-deletion-store.ts';
import { deletionSuite } from './conformance.ts';

const STORES: Readonly<Record<string, () => Promise<DeletionStore>>> = {
  memory: async () => new MemoryDeletionStore(),
  'a file': async () => {
    const store = await openStore(join(temporaryFolder(), 'hooks.db'), {
      clock: systemClock,
      tables: [DELETION_TABLES],
    });
    onTestFinished(() => store.close());
    return new SqliteDeletionStore(store);
  },
};

for (const [name, open] of Object.entries(STORES))
  describe(`a deletion request in ${name}`, () => deletionSuite(open));

describe('readDeletionRequest', () => {
  it('takes each name once', () => {
    expect(readDeletionRequest({ userIds: ['a', 'b', 'a'], sources: ['web'] })).toEqual({
      userIds: ['a', 'b'],
      sources: ['web'],
    });
    expect(readDeletionRequest({ userIds: ['a'], sources: null })).toEqual({ userIds: ['a'] });
  });

  it.each([
    [[], 'expected a deletion request to be a JSON object, got an empty list'],
    [{}, 'expected `userIds` to be a list of at least one string, got nothing'],
    [{ userIds: [] }, 'expected `userIds` to be a list of at least one string, got an empty list'],
    [{ userIds: 'u1' }, 'expected `userIds` to be a list of at least one string, got a string'],
    [{ userIds: ['a', 5] }, 'expected `userIds[1]` to be a non-empty string, got a number'],
    [
      { userIds: ['a'], sources: [''] },
      'expected `sources[0]` to be a non-empty string, got an empty string',
    ],
  ])('refuses %j', (input, sentence) => {
    expect(() => readDeletionRequest(input)).toThrow(sentence);
  });
});
