import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { ClosedError, ConfigError } from '../../../../src/errors.ts';
import { settledBytes } from '../../../../src/stores/sqlite/file/free-space.ts';
import { openStore } from '../../../../src/stores/sqlite/file/open-store.ts';
import { isAtLeast, loadSqlite } from '../../../../src/stores/sqlite/file/sqlite.ts';
import type { Store } from '../../../../src/stores/sqlite/file/store.ts';
import { asNobody } from '../../../as-nobody.ts';
import { FakeClock } from '../../../fake-clock.ts';
import { ask, run } from '../ask.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const NOTES = 'CREATE TABLE notes (text TEXT UNIQUE)';

async function open(place: string, { clock = systemClock, tables = [NOTES] } = {}): Promise<Store> {
  const store = await openStore(place, { clock, tables });
  onTestFinished(() => store.close());
  return store;
}

const insert = (store: Store, text: string): Promise<unknown> =>
  store.write((sql) => sql('INSERT INTO notes (text) VALUES (?)').run(text));
const texts = (store: Store): Promise<unknown[]> =>
  store.read((sql) =>
    sql('SELECT text FROM notes ORDER BY rowid')
      .all()
      .map(({ text }) => text),
  );

describe('the store', () => {
  it('keeps its content when it is opened again', async () => {
    const file = join(temporaryFolder(), 'deep/er/hooks.db');
    const first = await open(`sqlite:${file}`);
    await insert(first, 'a');
    await first.close();
    expect(await texts(await open(file))).toEqual(['a']);
  });

  // Where Node's own recursive mkdir never ends.
  it.skipIf(process.platform !== 'linux')('fails if the system cannot create the folder', async () => {
    await expect(open('/proc/nowhere/hooks.db')).rejects.toMatchObject({
      message: 'The queue /proc/nowhere/hooks.db cannot be opened: no folder can be made there',
      hint: 'check its path, or name another file with --store, or another folder in HOOKS_DATA_DIR',
    });
  });

  it('is readable by its owner only, with its log', async () => {
    const folder = join(temporaryFolder(), 'data');
    const file = join(folder, 'hooks.db');
    const store = await open(file);
    await insert(store, 'a');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const each of ['', '-wal', '-shm']) expect(statSync(file + each).mode & 0o777).toBe(0o600);
  });

  it('makes an existing file private', async () => {
    const file = join(temporaryFolder(), 'hooks.db');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    await open(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('rejects a folder in which any user can replace files, except for root', async () => {
    const folder = join(temporaryFolder(), 'open');
    mkdirSync(folder);
    chmodSync(dirname(folder), 0o755);
    chmodSync(folder, 0o777);
    const file = join(folder, 'hooks.db');
    await expect(
      asNobody(() => openStore(file, { clock: systemClock, tables: [NOTES] })),
    ).rejects.toMatchObject({
      message: `Expected the folder of the queue ${file} to be writable by its owner only, got mode 0777: any user may replace its files`,
      hint: 'remove the right of other users (chmod o-w), or name a file in another folder',
    });
    expect(existsSync(file)).toBe(false);
    chmodSync(folder, 0o1777);
    await (await asNobody(() => openStore(file, { clock: systemClock, tables: [NOTES] }))).close();
    if (process.geteuid?.() !== 0) return;
    chmodSync(folder, 0o777);
    await open(file);
  });

  it.each(['', '-wal', '-shm'])('rejects a symbolic link at hooks.db%s', async (suffix) => {
    const folder = temporaryFolder();
    const target = join(folder, 'precious');
    writeFileSync(target, 'precious');
    symlinkSync(target, join(folder, `hooks.db${suffix}`));
    await expect(open(join(folder, 'hooks.db'))).rejects.toThrow('symbolic link');
    expect(readFileSync(target, 'utf8')).toBe('precious');
  });

  it('commits the writes of one turn together, or rejects all', async () => {
    const store = await open(join(temporaryFolder(), 'hooks.db'));
    const together = await Promise.allSettled([insert(store, 'a'), insert(store, 'b'), insert(store, 'a')]);
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(await texts(store)).toEqual([]);
    await Promise.all([insert(store, 'a'), insert(store, 'b')]);
    expect(await texts(store)).toEqual(['a', 'b']);
  });

  it('commits pending writes before it closes, and rejects later ones', async () => {
    const file = join(temporaryFolder(), 'hooks.db');
    const store = await open(file);
    const promised = insert(store, 'a');
    await Promise.all([store.close(), promised]);
    await expect(insert(store, 'b')).rejects.toThrow(ClosedError);
    await expect(texts(store)).rejects.toThrow(ClosedError);
    await store.close();
    expect(await texts(await open(file))).toEqual(['a']);
  });

  it.each([0, 1, 2, 9])('rejects a file of schema %d, and leaves it unchanged', async (schema) => {
    const file = join(temporaryFolder(), 'hooks.db');
    const store = await open(file);
    await store.close();
    await run(file, `PRAGMA user_version = ${schema}`);
    // A connection that is not garbage-collected yet can leave the change in the log.
    await settledBytes(file);
    const before = readFileSync(file);
    await expect(open(file)).rejects.toMatchObject({
      message: `The queue ${file} was made by another version of hooks (schema ${schema}, expected 3)`,
      hint: expect.stringContaining('hooks queue export'),
    });
    expect(readFileSync(file)).toEqual(before);
  });

  it('reports a file without one of its tables as damaged', async () => {
    const file = join(temporaryFolder(), 'hooks.db');
    await (await open(file)).close();
    await ask(file, 'DROP TABLE notes');
    await expect(open(file)).rejects.toThrow(`The queue ${file} is damaged`);
  });

  it.each([
    ['a file that is no database', 'x'.repeat(5_000), /is not a SQLite database/],
    [
      'a damaged file',
      'SQLite format 3\0\x10\0\x02\x02\0\x40\x20\x20' + '\xff'.repeat(9_000),
      /is damaged|not a SQLite/,
    ],
  ])('rejects %s, and leaves it unchanged', async (_, content, sentence) => {
    const file = join(temporaryFolder(), 'hooks.db');
    writeFileSync(file, content, 'latin1');
    await expect(open(file)).rejects.toThrow(sentence);
    expect(readFileSync(file, 'latin1')).toBe(content);
  });

  it('reports a folder in its place, or a file in the place of its folder', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'hooks.db'));
    writeFileSync(join(folder, 'file'), '');
    await expect(open(join(folder, 'hooks.db'))).rejects.toThrow(/is not a file/);
    await expect(open(join(folder, 'file/hooks.db'))).rejects.toThrow(/a part of its path is not a folder/);
  });

  it.each(['redis://:secret@host/0', 'postgres://user:secret@host/x', 'sqlite:', 'sqlite::memory:', ''])(
    'rejects %s as a place, without its password',
    async (place) => {
      const refusal = open(place);
      await expect(refusal).rejects.toThrow(ConfigError);
      await expect(refusal).rejects.not.toThrow(/secret/);
    },
  );

  it('waits for another program that locks the file, without blocking, and reports a long lock', async () => {
    const file = join(temporaryFolder(), 'hooks.db');
    const clock = new FakeClock();
    const store = await open(file, { clock });
    const { DatabaseSync } = await loadSqlite();
    const other = new DatabaseSync(file, { timeout: 0 });
    onTestFinished(() => other.close());
    other.exec('BEGIN IMMEDIATE');
    const patient = insert(store, 'a');
    await clock.advance(9_000);
    other.exec('COMMIT');
    await clock.advance(100);
    await patient;
    other.exec('BEGIN IMMEDIATE');
    const refused = expect(insert(store, 'b')).rejects.toThrow(/is locked by another program/);
    await clock.advance(11_000);
    await refused;
    other.exec('COMMIT');
    await insert(store, 'c');
    expect(await texts(store)).toEqual(['a', 'c']);
  });
});

describe('a version of SQLite', () => {
  it.each([
    ['3.51.3', true],
    ['3.51.10', true],
    ['3.52.0', true],
    ['4.0.0', true],
    ['3.51.2', false],
    ['3.9.9', false],
  ])('%s is recent enough: %s', (version, expected) => {
    expect(isAtLeast(version, [3, 51, 3])).toBe(expected);
  });
});
