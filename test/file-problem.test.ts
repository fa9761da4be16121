import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileProblem, probeFolder, unreadableReason } from '../src/file-problem.ts';
import { storeError } from '../src/stores/sqlite/file/store-error.ts';
import { asNobody } from './as-nobody.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A folder that allows no new files, with one file in it. */
function lockedFolder(): string {
  const folder = join(temporaryFolder(), 'locked');
  mkdirSync(folder);
  chmodSync(join(folder, '..'), 0o755);
  writeFileSync(join(folder, 'hooks.db'), '', { mode: 0o666 });
  chmodSync(join(folder, 'hooks.db'), 0o666);
  chmodSync(folder, 0o555);
  return folder;
}

describe('the problem of a file', () => {
  it.each([
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk quota of this user is used up'],
    ['EROFS', 'its file system is read-only'],
    ['ENAMETOOLONG', 'its name is too long'],
    ['ENOTDIR', 'a part of its path is not a folder'],
    ['EMFILE', 'this process has too many files open'],
    ['EOTHER', 'EOTHER'],
  ])('is said in words for %s', (code, what) => {
    expect(fileProblem({ code }, '/a/b', 'write').what).toBe(what);
  });

  it('names the folder that allows no files, and its nearest folder if it is missing', async () => {
    const folder = lockedFolder();
    for (const path of ['new', 'missing/new']) {
      const { error, what } = await asNobody(() => {
        const found = probeFolder(join(folder, path));
        return { error: found, what: fileProblem(found, join(folder, path), 'write').what };
      });
      expect(error).toMatchObject({ code: 'EACCES' });
      expect(what).toBe(`this user may not write to the folder ${folder}`);
    }
  });

  it('is found by a probe that leaves nothing', () => {
    const folder = temporaryFolder();
    expect([probeFolder(join(folder, 'a')), probeFolder(join(folder, 'b/c/d'))]).toEqual([
      undefined,
      undefined,
    ]);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says why a home folder is not found', () => {
    expect(unreadableReason({ code: 'ENOENT' }, '~/x')).toMatch(/~ was not replaced .* \(remove the quotes/);
  });
});

describe('an error of SQLite', () => {
  it.each([8, 10, 13, 14])('with the code %d is explained by the file system', async (errcode) => {
    const folder = lockedFolder();
    const file = join(folder, 'hooks.db');
    const { message } = await asNobody(() => storeError({ errcode, message: 'x' }, file));
    expect(message).toBe(
      `The queue ${file} cannot be opened: this user may not write to the folder ${folder}`,
    );
  });

  it.each([
    [8, 'cannot be written: it is read-only'],
    [10, 'cannot be read or written: the disk reports an error'],
    [13, 'cannot be written: the disk is full'],
    [14, 'cannot be opened'],
  ])('with the code %d is named if the file system has no problem', (errcode, what) => {
    const file = join(temporaryFolder({ 'hooks.db': '' }), 'hooks.db');
    expect(storeError({ errcode, message: 'x' }, file).message).toBe(`The queue ${file} ${what}`);
  });
});
