import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../src/stores/sqlite/file/open-store.ts';
import type { Store } from '../../../src/stores/sqlite/file/store.ts';
import { FakeClock } from '../../fake-clock.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { ask, lock } from './ask.ts';

const NOTES = 'CREATE TABLE notes (text TEXT)';

async function open(): Promise<{ readonly store: Store; readonly clock: FakeClock }> {
  const clock = new FakeClock();
  const store = await openStore(join(temporaryFolder(), 'hooks.db'), { clock, tables: [NOTES] });
  onTestFinished(() => store.close());
  return { store, clock };
}

const checkedAt = (store: Store): Promise<string[]> => ask(store.file, 'SELECT checked_at FROM store_checks');
const insert = (store: Store, options?: { adds: true }): Promise<unknown> =>
  store.write((sql) => sql('INSERT INTO notes VALUES (zeroblob(1000000))').run(), options);

describe('a check of the store', () => {
  it('writes at first, and later only if no write has succeeded for a while', async () => {
    const { store, clock } = await open();
    await store.check();
    const first = await checkedAt(store);
    await clock.advance(4_000);
    await store.check();
    expect(await checkedAt(store)).toEqual(first);
    await clock.advance(2_000);
    await store.check();
    expect(await checkedAt(store)).not.toEqual(first);
  });

  it('writes after a write has failed', async () => {
    const { store, clock } = await open();
    await store.check();
    const first = await checkedAt(store);
    await clock.advance(1_000);
    await expect(store.write((sql) => sql('INSERT INTO nothing VALUES (1)').run())).rejects.toThrow();
    await store.check();
    expect(await checkedAt(store)).not.toEqual(first);
  });

  it('rejects after a write without room, even if small writes succeed', async () => {
    const { store, clock } = await open();
    await store.check();
    const pages = Number((await ask(store.file, 'PRAGMA page_count'))[0]);
    await store.read((sql) => sql(`PRAGMA max_page_count = ${pages + 20}`).get());
    await expect(insert(store, { adds: true })).rejects.toThrow('cannot be written: the disk is full');
    await store.write((sql) => sql("INSERT INTO notes VALUES ('small')").run());
    await expect(store.check()).rejects.toThrow('cannot be written: the disk is full');
    await store.check({ toAdd: false });
    await clock.advance(6_000);
    await store.check();
  });
});

describe('a transaction on a full disk', () => {
  it('continues without the writes that add', async () => {
    const { store } = await open();
    await store.write((sql) => sql("INSERT INTO notes VALUES ('a'), ('b')").run());
    const pages = Number((await ask(store.file, 'PRAGMA page_count'))[0]);
    await store.read((sql) => sql(`PRAGMA max_page_count = ${pages + 20}`).get());
    const settle = store.write((sql) => sql("DELETE FROM notes WHERE text = 'a'").run());
    const [settled, added] = await Promise.allSettled([settle, insert(store, { adds: true })]);
    expect([settled.status, added.status]).toEqual(['fulfilled', 'rejected']);
    expect(await ask(store.file, 'SELECT text FROM notes')).toEqual(['b']);
  });
});

describe('the reserve', () => {
  it('exists, private, until a transaction needs it', async () => {
    const { store } = await open();
    store.room.keepReserve();
    store.room.keepReserve();
    const { size, mode } = statSync(`${store.file}-reserve`);
    expect([size, mode & 0o777]).toEqual([512 * 1024, 0o600]);
    const pages = Number((await ask(store.file, 'PRAGMA page_count'))[0]);
    await store.read((sql) => sql(`PRAGMA max_page_count = ${pages}`).get());
    await expect(insert(store)).rejects.toThrow('cannot be written: the disk is full');
    expect(existsSync(`${store.file}-reserve`)).toBe(false);
  });

  it('is kept during a lock', async () => {
    const { store, clock } = await open();
    store.room.keepReserve();
    const release = await lock(store.file);
    const refused = expect(insert(store, { adds: true })).rejects.toThrow(/locked/);
    await clock.advance(11_000);
    await refused;
    release();
    expect(existsSync(`${store.file}-reserve`)).toBe(true);
  });
});
