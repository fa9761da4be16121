import { constants } from 'node:fs';
import { lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InputError } from '../../errors.ts';
import { fileProblem } from '../../file-problem.ts';
import { makeFolder, ownedName, syncFolder } from '../../files.ts';

/*
 * Files with mode 0600, in a folder that is created with mode 0700. A symbolic link in place of the file or the folder is
 * not followed, because the user who made the link could choose which file is overwritten.
 */

/** Reads the text of a file. Undefined if the file does not exist. Throws InputError, also if it is a symbolic link. */
export async function readPrivate(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW });
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw unusablePrivateFile(file, cause, 'read');
  }
}

/** Replaces a file with a synced new one, so that even a power failure leaves the old or the new text. Throws InputError. */
export async function writePrivate(file: string, text: string): Promise<void> {
  const fresh = ownedName(file, 'tmp');
  try {
    await writeFile(fresh, text, { flag: 'wx', mode: 0o600, flush: true });
    await rename(fresh, file);
    await syncFolder(dirname(file));
  } catch (cause) {
    await rm(fresh, { force: true });
    throw unusablePrivateFile(file, cause);
  }
}

/**
 * Creates a folder and its missing parents with mode 0700. An existing folder keeps its mode. Throws InputError, also
 * if the folder is a symbolic link.
 */
export async function makePrivateFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder, 0o700);
    if ((await lstat(folder)).isDirectory()) return;
  } catch (cause) {
    throw unusablePrivateFile(folder, cause);
  }
  throw new InputError('Expected a real folder, got a symbolic link', {
    file: folder,
    hint: 'remove it, or name another folder in HOOKS_DATA_DIR',
  });
}

export async function removePrivate(file: string): Promise<void> {
  await rm(file, { force: true }).catch((cause: unknown) => {
    throw unusablePrivateFile(file, cause);
  });
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'; // file operations throw only such errors
}

/** Returns the error for a file that cannot be used because of `cause`. */
export function unusablePrivateFile(
  file: string,
  cause: unknown,
  use: 'read' | 'write' = 'write',
): InputError {
  const { what, fix } = fileProblem(cause, file, use);
  return new InputError(`Cannot be ${use === 'read' ? 'read' : 'written'}: ${what}`, {
    file,
    hint: `${fix}, or name another folder in HOOKS_DATA_DIR`,
    cause,
  });
}
