import { copyFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/clock.ts';
import { TABLES } from '../../../../src/stores/sqlite/tables.ts';
import { openStore } from '../../../../src/stores/sqlite/file/open-store.ts';
import { loadSqlite } from '../../../../src/stores/sqlite/file/sqlite.ts';
import type { Store } from '../../../../src/stores/sqlite/file/store.ts';
import { hooks } from '../../../end-to-end/hooks.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { until } from '../../../until.ts';
import { ask } from '../ask.ts';

const NOTES = 'CREATE TABLE notes (n INTEGER PRIMARY KEY)';
const HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 4096;
const COMMITS = 5;

const open = (file: string): Promise<Store> => openStore(file, { clock: systemClock, tables: [NOTES] });
const sizeOfLog = (file: string): number => statSync(`${file}-wal`).size;

/** A file whose process was killed after some commits, and the end of each commit in its log. */
async function killed(folder: string): Promise<{ readonly file: string; readonly ends: readonly number[] }> {
  const [file, copy] = [join(folder, 'hooks.db'), join(folder, 'killed.db')];
  const store = await open(file);
  const ends: number[] = [];
  for (let n = 1; n <= COMMITS; n++) {
    await store.write((sql) => sql('INSERT INTO notes VALUES (?)').run(n));
    ends.push(sizeOfLog(file));
  }
  for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
  await store.close();
  return { file: copy, ends };
}

function flip(file: string, at: number): void {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

async function cutAndKept(file: string): Promise<readonly number[]> {
  const store = await open(file);
  await store.close();
  return [store.found.cutCommits, Number(await ask(file, 'SELECT count(*) FROM notes'))];
}

describe('the log of a file', () => {
  it('is reported as cut if a bit has flipped, with the number of lost commits', async () => {
    const { file, ends } = await killed(temporaryFolder());
    // In the page of the third commit.
    flip(`${file}-wal`, (ends[2] ?? 0) - 100);
    expect(await cutAndKept(file)).toEqual([3, 2]);
    expect(await cutAndKept(file)).toEqual([0, 2]);
  });

  it.each([
    ['the header of a frame', 2 * FRAME_BYTES],
    ['its own header', 0],
  ])('is reported as cut by a bit in %s', async (_, back) => {
    const { file, ends } = await killed(temporaryFolder());
    const at = back === 0 ? 12 : (ends[COMMITS - 1] ?? 0) - back + 9;
    flip(`${file}-wal`, at);
    const [cut = 0] = await cutAndKept(file);
    expect(cut).toBeGreaterThan(0);
  });

  it('is whole after a kill, and while another process uses it', async () => {
    const { file } = await killed(temporaryFolder());
    const store = await open(file);
    await store.write((sql) => sql('INSERT INTO notes VALUES (9)').run());
    flip(`${file}-wal`, sizeOfLog(file) - 100);
    const other = await open(file);
    expect([store.found.cutCommits, other.found.cutCommits]).toEqual([0, 0]);
    await other.close();
    await store.close();
  });

  it('is whole if the process was killed after restarting the log, before writing the first frame', async () => {
    const { file } = await killed(temporaryFolder());
    const { DatabaseSync } = await loadSqlite();
    const database = new DatabaseSync(file, { timeout: 5_000 });
    database.exec('SELECT count(*) FROM notes');
    const old = readFileSync(`${file}-wal`);
    database.exec('PRAGMA wal_checkpoint(RESTART); INSERT INTO notes VALUES (9)');
    const header = readFileSync(`${file}-wal`).subarray(0, HEADER_BYTES);
    const pages = readFileSync(file);
    database.close();
    expect(header.equals(old.subarray(0, HEADER_BYTES))).toBe(false);
    writeFileSync(file, pages);
    writeFileSync(`${file}-wal`, Buffer.concat([header, old.subarray(HEADER_BYTES)]));
    expect(await cutAndKept(file)).toEqual([0, COMMITS]);
  });

  it('is written back soon after a commit, and empty at the end', async () => {
    const folder = temporaryFolder();
    const [file, alone, flipped] = ['hooks.db', 'alone.db', 'flipped.db'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    const store = await open(file);
    const end = sizeOfLog(file);
    await store.write((sql) => sql('INSERT INTO notes VALUES (1)').run());
    const isInFile = async (): Promise<boolean> => {
      copyFileSync(file, alone);
      return (await ask(alone, 'SELECT count(*) FROM notes').catch((): string[] => [])).includes('1');
    };
    await until(isInFile, 'the log to be written back');
    for (const place of [FRAME_BYTES - 100, end + FRAME_BYTES - 100]) {
      copyFileSync(file, flipped);
      copyFileSync(`${file}-wal`, `${flipped}-wal`);
      flip(`${flipped}-wal`, place);
      expect(await ask(flipped, 'SELECT count(*) FROM notes')).toEqual(['1']);
      expect(await ask(flipped, 'PRAGMA integrity_check')).toEqual(['ok']);
    }
    await store.close();
    expect(existsSync(`${file}-wal`) ? sizeOfLog(file) : 0).toBe(0);
  });

  it('is reported by the command that opens it', async () => {
    const folder = temporaryFolder();
    const [file, copy] = [join(folder, 'hooks.db'), join(folder, 'killed.db')];
    const store = await openStore(file, { clock: systemClock, tables: TABLES });
    for (const at of [1, 2, 3]) {
      await store.write((sql) => sql('INSERT OR REPLACE INTO latest_time VALUES (1, ?)').run(at));
    }
    for (const end of ['', '-wal']) copyFileSync(file + end, copy + end);
    await store.close();
    flip(`${copy}-wal`, sizeOfLog(copy) - 100);
    const { stderr } = await hooks(['queue', 'stats', '--store', copy], { cwd: folder });
    expect(stderr).toContain(`warning: 1 commit cut: the log of ${copy} is damaged`);
  });
});
