import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { QueueError } from '../../../../src/errors.ts';
import { examineStore } from '../../../../src/stores/sqlite/file/examine-store.ts';
import { openStore } from '../../../../src/stores/sqlite/file/open-store.ts';
import { loadSqlite, type Database } from '../../../../src/stores/sqlite/file/sqlite.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { ask } from '../ask.ts';

const NOTES = 'CREATE TABLE notes (text TEXT UNIQUE)';
const OPTIONS = { clock: systemClock, tables: [NOTES] };
const STAMP = String(0x686f6f6b);

const newFile = (): string => join(temporaryFolder(), 'some.db');

async function database(file: string): Promise<Database> {
  const { DatabaseSync } = await loadSqlite();
  const opened = new DatabaseSync(file, { timeout: 0 });
  onTestFinished(() => opened.close());
  return opened;
}

/** A database of another program, with its own mode. */
async function made(sql: string): Promise<string> {
  const file = newFile();
  const { DatabaseSync } = await loadSqlite();
  const opened = new DatabaseSync(file, { timeout: 0 });
  opened.exec(sql);
  opened.close();
  chmodSync(file, 0o644);
  return file;
}

/** The names, modes and bytes of all files in the folder. */
function shape(file: string): unknown {
  const folder = dirname(file);
  return readdirSync(folder)
    .toSorted()
    .map((name) => [
      name,
      statSync(join(folder, name)).mode & 0o777,
      readFileSync(join(folder, name)).toString('base64'),
    ]);
}

const TWENTY_TABLES = Array.from({ length: 20 }, (_, index) => `CREATE TABLE t${index} (x);`).join('');

describe('a database of another program', () => {
  it.each([
    ['in rollback mode', TWENTY_TABLES, /another program \(it has the table t0, and no table of hooks\)/],
    ['in WAL mode', `PRAGMA journal_mode = WAL; ${TWENTY_TABLES}`, /another program/],
    ['with a version of its own', `${TWENTY_TABLES} PRAGMA user_version = 1`, /another program/],
    [
      'that is empty but for its stamp',
      'PRAGMA application_id = 252006674',
      /its application_id is 0x0f055112/,
    ],
    [
      'with versions of its own',
      'CREATE TABLE schema_versions (version INTEGER, applied_at TEXT)',
      /it has the table schema_versions/,
    ],
    [
      'that has a version and no table',
      'PRAGMA user_version = 9',
      /its user_version is 9, and it has no table/,
    ],
    ['with a negative stamp', 'PRAGMA application_id = -2; CREATE TABLE t (x)', /0xfffffffe/],
  ])('%s is rejected and left unchanged', async (_, sql, sentence) => {
    const file = await made(sql);
    const before = shape(file);
    await expect(openStore(file, OPTIONS)).rejects.toThrow(QueueError);
    await expect(openStore(`sqlite:${file}`, OPTIONS)).rejects.toThrow(sentence);
    await expect(examineStore(file, OPTIONS, async () => undefined)).rejects.toThrow(sentence);
    expect(shape(file)).toEqual(before);
  });

  it('is rejected if all its content is in the log', async () => {
    const file = newFile();
    const theirs = await database(file);
    theirs.exec(`PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; ${TWENTY_TABLES}`);
    chmodSync(file, 0o644);
    const bytes = readFileSync(file);
    await expect(openStore(file, OPTIONS)).rejects.toThrow(/is a database of another program/);
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readFileSync(file)).toEqual(bytes);
  });
});

const insert = async (file: string, text: string): Promise<void> => {
  const store = await openStore(file, OPTIONS);
  await store.write((sql) => sql('INSERT INTO notes VALUES (?)').run(text));
  await store.close();
};

describe('a file of hooks', () => {
  it('has a stamp', async () => {
    const file = newFile();
    await insert(file, 'a');
    expect(await ask(file, 'PRAGMA application_id')).toEqual([STAMP]);
  });

  it.each(['', 'PRAGMA journal_mode = WAL', 'PRAGMA journal_mode = WAL; CREATE TABLE a (x); DROP TABLE a'])(
    'is one that is empty (%s)',
    async (sql) => {
      const file = await made(sql);
      if (sql === '') writeFileSync(file, '');
      await insert(file, 'a');
      expect(await ask(file, 'PRAGMA application_id')).toEqual([STAMP]);
      // The file returns its space in steps.
      expect(await ask(file, 'PRAGMA auto_vacuum')).toEqual(['2']);
    },
  );
});

describe('a file of hooks with an interrupted checkpoint', () => {
  it('is opened, although its header counts more pages than it has', async () => {
    const file = newFile();
    const store = await openStore(file, OPTIONS);
    onTestFinished(() => store.close());
    await store.write((sql) => {
      for (let row = 0; row < 200; row++) {
        sql('INSERT INTO notes VALUES (?)').run(`${row} ${'x'.repeat(1_000)}`);
      }
    });
    const killed = newFile();
    for (const each of ['', '-wal']) copyFileSync(file + each, killed + each);
    // A checkpoint writes the pages in the order of the log, so the first page comes before the appended ones.
    writeFirstPage(killed);
    const reopened = await openStore(killed, OPTIONS);
    await reopened.close();
    expect(await ask(killed, 'SELECT count(*) FROM notes')).toEqual(['200']);
  });
});

/** Writes the last version of page 1 in the log into the file, which is the first step of a checkpoint. */
function writeFirstPage(file: string): void {
  const log = readFileSync(`${file}-wal`);
  const pageBytes = log.readUInt32BE(8);
  const pages = readFileSync(file);
  for (let at = 32; at + 24 + pageBytes <= log.length; at += 24 + pageBytes) {
    if (log.readUInt32BE(at) === 1) log.copy(pages, 0, at + 24, at + 24 + pageBytes);
  }
  expect(pages.readUInt32BE(28)).toBeGreaterThan(pages.length / pageBytes);
  writeFileSync(file, pages);
}

describe('a new file for a store that cannot be set up', () => {
  it('is removed, with its log', async () => {
    const file = newFile();
    const broken = 'CREATE TABLE notes (text';
    await expect(openStore(file, { ...OPTIONS, tables: [broken] })).rejects.toThrow(QueueError);
    for (const each of ['', '-wal', '-shm', '-journal']) expect(existsSync(file + each)).toBe(false);
  });
});
