import { constants } from 'node:fs';
import { lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../errors.ts';
import { makeFolder } from '../make-folder.ts';
import { ownedName } from '../temporary-file.ts';

/**
 * A file that only its owner may read, in a folder of which the same is true. Never read or written through a
 * symbolic link: who could put one there could choose what is overwritten.
 */

/** The text, or undefined when there is no such file. Throws InputError. */
export async function readPrivate(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw unusablePrivateFile(file, cause);
  }
}

/** All of it or nothing, also when the power fails: a new file on the disk takes the place of the old. Throws InputError. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const fresh = ownedName(file, 'tmp');
  try {
    const handle = await open(fresh, 'wx', 0o600);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(fresh, file);
    await syncFolder(dirname(file));
  } catch (cause) {
    await rm(fresh, { force: true });
    throw unusablePrivateFile(file, cause);
  }
}

/** Throws InputError. */
export async function makePrivateFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder, 0o700);
    if ((await lstat(folder)).isDirectory()) return;
  } catch (cause) {
    throw unusablePrivateFile(folder, cause);
  }
  throw new InputError('is a symbolic link, where a folder of our own is expected', {
    file: folder,
    hint: 'remove it, or name another folder in HOOKS_DATA_DIR',
  });
}

export async function removePrivate(file: string): Promise<void> {
  await rm(file, { force: true }).catch((cause: unknown) => {
    throw unusablePrivateFile(file, cause);
  });
}

/** What a rename has changed lasts only when the folder is on the disk too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'; // of a file operation
}

function unusablePrivateFile(file: string, cause: unknown): InputError {
  const { code, message } = cause as NodeJS.ErrnoException; // of a file operation
  return new InputError(`cannot be used (${code ?? message})`, {
    file,
    hint: 'check who owns it and its mode, or name another folder in HOOKS_DATA_DIR',
    cause,
  });
}
