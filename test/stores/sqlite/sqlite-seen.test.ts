import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SqliteQueue } from '../../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../../src/stores/sqlite/queue/queue-tables.ts';
import { SEEN_FOR_MS, type SeenMessage } from '../../../src/service/ingest/seen.ts';
import { SqliteSeen, SEEN_TABLES } from '../../../src/stores/sqlite/sqlite-seen.ts';
import { openStore } from '../../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../../src/stores/sqlite/file/store.ts';
import { FakeClock } from '../../fake-clock.ts';
import { newDelivery } from '../../queue/new-delivery.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const STORED = Promise.resolve();

describe('SqliteSeen', () => {
  let clock: FakeClock;
  let store: Store;
  let seen: SqliteSeen;
  beforeEach(async () => {
    clock = new FakeClock();
    store = await openStore(join(temporaryFolder(), 'hooks.db'), {
      clock,
      tables: [QUEUE_TABLES, SEEN_TABLES],
    });
    const opened = store;
    onTestFinished(() => opened.close());
    seen = new SqliteSeen(store, clock);
  });

  const rows = (): Promise<number> =>
    store.read((sql) => Number(sql('SELECT count(*) AS count FROM seen').get()?.['count']));

  it('knows the messages of the source, whatever the length of their ids', async () => {
    const long = 'x'.repeat(30_000);
    await seen.add('web', ['a', long], STORED);
    expect(await seen.among('web', ['a', 'b', long, `${long}y`])).toEqual(new Set(['a', long]));
    expect(await seen.among('app', ['a'])).toEqual(new Set());
  });

  it('restores messages of another queue until 24 hours after they were accepted there', async () => {
    const long = 'x'.repeat(100);
    const acceptedAt = clock.now() - SEEN_FOR_MS + 10;
    await seen.add('web', ['known'], STORED);
    await seen.restore([
      { source: 'web', messageId: 'a', acceptedAt },
      { source: 'web', messageId: long, acceptedAt },
      { source: 'web', messageId: 'known', acceptedAt },
      { source: 'web', messageId: 'old', acceptedAt: acceptedAt - 10 },
    ]);
    expect(await seen.among('web', ['a', long, 'old', 'known'])).toEqual(new Set(['a', long, 'known']));
    await clock.advance(10);
    expect(await seen.among('web', ['a', long, 'known'])).toEqual(new Set(['known']));
  });

  it('lists what restore needs, in pages', async () => {
    const ids = Array.from({ length: 2_500 }, (_, index) => `m${index}`);
    await seen.add('web', ids, STORED);
    await seen.add('app', ['m1', 'x'.repeat(100)], STORED);
    const pages: (readonly SeenMessage[])[] = [];
    for await (const page of seen.list()) pages.push(page);
    const other = await openStore(join(temporaryFolder(), 'hooks.db'), {
      clock,
      tables: [QUEUE_TABLES, SEEN_TABLES],
    });
    onTestFinished(() => other.close());
    const restored = new SqliteSeen(other, clock);
    for (const page of pages) await restored.restore(page);
    expect(pages.flat()).toHaveLength(2_502);
    expect(await restored.among('web', ids)).toEqual(new Set(ids));
    expect(await restored.among('app', ['m1', 'm2', 'x'.repeat(100)])).toEqual(
      new Set(['m1', 'x'.repeat(100)]),
    );
  });

  it('distinguishes ids by all characters', async () => {
    const ids = [
      'a\0b',
      'a\0',
      '\ud800x',
      '\ud801x',
      `\ud800${'x'.repeat(70)}`,
      `\ud801${'x'.repeat(70)}`,
      '"',
      '\\',
      '\u2028é😀',
      '1',
      '',
      'A',
      ' a',
    ];
    for (const [index, id] of ids.entries()) {
      expect(await seen.among('web', ids)).toEqual(new Set(ids.slice(0, index)));
      expect(await seen.among('web', ['a'])).toEqual(new Set());
      await seen.add('web', [id], STORED);
    }
    expect(await seen.among('web', [...ids, 'a', 'a\0c', '01', 'é'])).toEqual(new Set(ids));
  });

  it('forgets messages and their rows after 24 hours', async () => {
    await seen.add('web', ['a'], STORED);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['a'])).toEqual(new Set(['a']));
    await clock.advance(1);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    await seen.add('web', ['b'], STORED);
    expect(await rows()).toBe(1);
  });

  it('remembers a repeated message for another 24 hours', async () => {
    await seen.add(
      'web',
      Array.from({ length: 10 }, (_, index) => `old-${index}`),
      STORED,
    );
    await clock.advance(SEEN_FOR_MS);
    await seen.add('web', ['old-9'], STORED);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['old-8', 'old-9'])).toEqual(new Set(['old-9']));
  });

  it('forgets many messages in small steps', async () => {
    await seen.add(
      'web',
      Array.from({ length: 100 }, (_, index) => `old-${index}`),
      STORED,
    );
    await clock.advance(SEEN_FOR_MS);
    await seen.add('web', ['a', 'b', 'c'], STORED);
    expect(await rows()).toBe(100 + 3 - 6);
  });

  it('ignores messages that were rejected before they reached the store', async () => {
    await expect(seen.add('web', ['a'], Promise.reject(new Error('closed')))).rejects.toThrow('closed');
    expect(await seen.among('web', ['a'])).toEqual(new Set());
  });

  it('and the store keep both or neither if a write fails', async () => {
    const queue = new SqliteQueue({ store, clock });
    const broken = store.write(() => {
      throw new Error('the disk is full');
    });
    const adding = queue.add([newDelivery('d1')]);
    const remembering = seen.add('web', ['a'], adding);
    const ends = await Promise.allSettled([broken, adding, remembering]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    expect(await queue.lanes()).toEqual([]);
  });
});
