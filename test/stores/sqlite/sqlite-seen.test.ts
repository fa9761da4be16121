import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { SqliteInspection } from '../../../src/stores/sqlite/queue/sqlite-inspection.ts';
import { SqliteQueue } from '../../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../../src/stores/sqlite/queue/queue-tables.ts';
import { SEEN_FOR_MS, type SeenMessage } from '../../../src/service/ingest/seen.ts';
import { SqliteSeen, SEEN_TABLES } from '../../../src/stores/sqlite/sqlite-seen.ts';
import { openStore } from '../../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../../src/stores/sqlite/file/store.ts';
import { FakeClock } from '../../fake-clock.ts';
import { newDelivery } from '../../queue/new-delivery.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

describe('SqliteSeen', () => {
  let clock: FakeClock;
  let store: Store;
  let queue: SqliteQueue;
  let seen: SqliteSeen;
  beforeEach(async () => {
    clock = new FakeClock();
    store = await openStore(join(temporaryFolder(), 'hooks.db'), {
      clock,
      tables: [QUEUE_TABLES, SEEN_TABLES],
    });
    const opened = store;
    onTestFinished(() => opened.close());
    queue = new SqliteQueue({ store, clock });
    seen = new SqliteSeen(store, clock);
  });

  /** Remembers messages, and returns the ones that were remembered already. */
  const add = (source: string, messageIds: readonly string[]): Promise<ReadonlySet<string>> =>
    queue.add([], { source, messageIds });

  const rows = (): Promise<number> =>
    store.read((sql) => Number(sql('SELECT count(*) AS count FROM seen').get()?.['count']));

  it('knows the messages of the source, whatever the length of their ids', async () => {
    const long = 'x'.repeat(30_000);
    await add('web', ['a', long]);
    expect(await seen.among('web', ['a', 'b', long, `${long}y`])).toEqual(new Set(['a', long]));
    expect(await seen.among('app', ['a'])).toEqual(new Set());
  });

  it('restores messages of another queue until 24 hours after they were accepted there', async () => {
    const long = 'x'.repeat(100);
    const acceptedAt = clock.now() - SEEN_FOR_MS + 10;
    await add('web', ['known']);
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
    await add('web', ids);
    await add('app', ['m1', 'x'.repeat(100)]);
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
      await add('web', [id]);
    }
    expect(await seen.among('web', [...ids, 'a', 'a\0c', '01', 'é'])).toEqual(new Set(ids));
  });

  it('forgets messages and their rows after 24 hours', async () => {
    await add('web', ['a']);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['a'])).toEqual(new Set(['a']));
    await clock.advance(1);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    await add('web', ['b']);
    expect(await rows()).toBe(1);
  });

  it('remembers a repeated message for another 24 hours', async () => {
    await add(
      'web',
      Array.from({ length: 10 }, (_, index) => `old-${index}`),
    );
    await clock.advance(SEEN_FOR_MS);
    await add('web', ['old-9']);
    await clock.advance(SEEN_FOR_MS - 1);
    expect(await seen.among('web', ['old-8', 'old-9'])).toEqual(new Set(['old-9']));
  });

  it('forgets many messages in small steps', async () => {
    await add(
      'web',
      Array.from({ length: 100 }, (_, index) => `old-${index}`),
    );
    await clock.advance(SEEN_FOR_MS);
    await add('web', ['a', 'b', 'c']);
    expect(await rows()).toBe(100 + 3 - 6);
  });

  it('tells which messages are added again, and skips their deliveries', async () => {
    const deliveries = ['m1', 'm2', 'm3'].map((messageId) =>
      newDelivery(`first-${messageId}`, { messageId }),
    );
    expect(await queue.add(deliveries, { source: 'web', messageIds: ['m1', 'm2'] })).toEqual(new Set());
    const again = ['m1', 'm3', 'm4'].map((messageId) => newDelivery(`again-${messageId}`, { messageId }));
    const known = await queue.add(again, { source: 'web', messageIds: ['m1', 'm4'] });
    expect(known).toEqual(new Set(['m1']));
    const { deliveries: added } = await new SqliteInspection({ store, clock }).list({
      states: ['pending'],
      limit: 10,
    });
    expect(added.map(({ id }) => id)).toEqual(['first-m1', 'first-m2', 'first-m3', 'again-m3', 'again-m4']);
  });

  it('adds a message once when two processes add it at the same moment', async () => {
    const { file } = store;
    const other = await openStore(file, { clock, tables: [QUEUE_TABLES, SEEN_TABLES] });
    onTestFinished(() => other.close());
    const queues = [queue, new SqliteQueue({ store: other, clock })];
    const messageIds = Array.from({ length: 50 }, (_, index) => `m${index}`);
    const known = await Promise.all(
      messageIds.flatMap((messageId) =>
        queues.map((each, index) =>
          each.add([newDelivery(`${messageId}-${index}`, { messageId })], {
            source: 'web',
            messageIds: [messageId],
          }),
        ),
      ),
    );
    expect(known.filter(({ size }) => size === 1)).toHaveLength(50);
    const stats = await new SqliteInspection({ store, clock }).stats();
    expect(stats).toMatchObject([{ pending: 50 }]);
  });

  it('and the deliveries are stored both or neither', async () => {
    const broken = store.write(() => {
      throw new Error('the disk is full');
    });
    const adding = queue.add([newDelivery('d1')], { source: 'web', messageIds: ['a'] });
    const ends = await Promise.allSettled([broken, adding]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await seen.among('web', ['a'])).toEqual(new Set());
    expect(await queue.lanes()).toEqual([]);
  });
});
