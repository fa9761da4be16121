import { constants } from 'node:fs';
import { access, chmod, lstat, open, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../errors.ts';
import { makeFolder } from '../make-folder.ts';

/**
 * Sees to it that the database's file is there, that only its owner may read it, and that none of its files is a symbolic
 * link: who could put one there could choose what is overwritten. SQLite gives `-wal` and `-shm` the mode of the file.
 */
export async function prepareFiles(file: string): Promise<void> {
  const folder = dirname(resolve(file));
  makeFolder(folder, 0o700);
  await refuseOpenFolder(folder, file);
  await create(file);
  // SQLite would say of a read-only file that it cannot be opened.
  await access(file, constants.W_OK);
  for (const each of [file, `${file}-wal`, `${file}-shm`]) await makePrivate(each);
}

/**
 * Where any user may remove and rename, any user may put another database in the place of this one, or another log beside it.
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

/** An empty file is an empty database. */
async function create(file: string): Promise<void> {
  try {
    const handle = await open(
      file,
      constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW | constants.O_RDWR,
      0o600,
    );
    await handle.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of a file operation
  }
}

async function makePrivate(file: string): Promise<void> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (found === undefined) return;
  if (!found.isFile()) {
    throw new QueueError(
      `The queue ${file} is not a file${found.isSymbolicLink() ? ' but a symbolic link' : ''}`,
      { file, hint: 'name the file itself with --store; nothing is written through a link' },
    );
  }
  if ((found.mode & 0o077) !== 0) await chmod(file, 0o600);
}
