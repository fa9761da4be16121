import { constants } from 'node:fs';
import { access, chmod, lstat, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../errors.ts';
import { makeFolder } from '../make-folder.ts';

/**
 * Sees to it that the database's file is there, that only its owner may read it, and that none of its files is a symbolic
 * link: who could put one there could choose what is overwritten. SQLite gives `-wal` and `-shm` the mode of the file.
 */
export async function prepareFiles(file: string): Promise<void> {
  makeFolder(dirname(resolve(file)), 0o700);
  await create(file);
  // SQLite would say of a read-only file that it cannot be opened.
  await access(file, constants.W_OK);
  for (const each of [file, `${file}-wal`, `${file}-shm`]) await makePrivate(each);
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
