import { constants } from 'node:fs';
import { access, chmod, lstat, open, rm, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../errors.ts';
import { makeFolder } from '../../../files.ts';
import { assertOwnFile, hasNoTables } from './ownership.ts';

/**
 * Sees to it that the database's file is there, that only its owner may read it, and that none of its files is a symbolic
 * link: who could put one there could choose what is overwritten. SQLite gives `-wal` and `-shm` the mode of the file.
 * A database of another program is refused before anything of it changes.
 * @returns whether the file was made by this call.
 */
export async function prepareFiles(file: string): Promise<boolean> {
  const folder = dirname(resolve(file));
  makeFolder(folder, 0o700);
  await refuseOpenFolder(folder, file);
  const isNew = await create(file);
  // SQLite would say of a read-only file that it cannot be opened.
  await access(file, constants.W_OK);
  const files = [file, `${file}-wal`, `${file}-shm`];
  for (const each of files) await modeOf(each);
  if (!isNew) await assertOwnFile(file);
  for (const each of files) await makePrivate(each);
  return isNew;
}

/**
 * Where any user may remove and rename, any user may put another database in the place of this one, or another log next to it.
 * In a folder with the sticky bit, as /tmp, only a file's owner may. Root may use any folder.
 */
async function refuseOpenFolder(folder: string, file: string): Promise<void> {
  if (process.geteuid?.() === 0) return;
  const { mode } = await stat(folder);
  if ((mode & 0o1002) !== 0o0002 || process.platform === 'win32') return;
  throw new QueueError(
    `Expected the folder of the queue ${file} to be writable by its owner only, got mode ${(mode & 0o7777).toString(8).padStart(4, '0')}: any user may replace what is in it`,
    { file, hint: 'take the right from others (chmod o-w), or name a file in another folder' },
  );
}

/** Removes a file that was just made and in which nothing could be stored; one in which another process has is kept. */
export async function removeUnused(file: string): Promise<void> {
  if (!(await hasNoTables(file).catch(() => false))) return;
  for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) await rm(each, { force: true });
}

/** An empty file is an empty database. False: it is there already. */
async function create(file: string): Promise<boolean> {
  try {
    const handle = await open(
      file,
      constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_RDWR,
      0o600,
    );
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of a file operation
    return false;
  }
}

async function makePrivate(file: string): Promise<void> {
  const mode = await modeOf(file);
  if (mode !== undefined && (mode & 0o077) !== 0) await chmod(file, 0o600);
}

/** Undefined: there is none. Throws QueueError for what is no regular file. */
async function modeOf(file: string): Promise<number | undefined> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found === undefined) return undefined;
  if (!found.isFile()) {
    throw new QueueError(
      `The queue ${file} is not a file${found.isSymbolicLink() ? ' but a symbolic link' : ''}`,
      { file, hint: 'name the file itself with --store; nothing is written through a link' },
    );
  }
  return found.mode;
}
