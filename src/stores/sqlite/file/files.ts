import { constants, type Stats } from 'node:fs';
import { access, chmod, lstat, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../../errors.ts';
import { makeFolder } from '../../../files.ts';
import { assertOwnFile } from './ownership.ts';

/**
 * Creates a missing database file and makes its files readable by their owner only; SQLite gives `-wal` and `-shm` the mode
 * of the file. Rejects symbolic links, because someone who can place a link could choose which file is overwritten. Rejects
 * a database of another program before changing anything. `make` creates the missing file, unless another process does so
 * first.
 */
export async function prepareFiles(file: string, make = makeEmpty): Promise<void> {
  const folder = dirname(resolve(file));
  makeFolder(folder, 0o700);
  await rejectOpenFolder(folder, file);
  const isNew = (await modeOf(file)) === undefined;
  if (isNew) await make(file);
  // Checked here, because SQLite would report a read-only file as a file that cannot be opened.
  await access(file, constants.W_OK);
  const files = [file, `${file}-wal`, `${file}-shm`];
  for (const each of files) await modeOf(each);
  if (!isNew) await assertOwnFile(file);
  for (const each of files) await makePrivate(each);
}

/**
 * Rejects a folder in which any user can rename and delete files, and so replace the database or its log. A folder with the
 * sticky bit, such as /tmp, is allowed: there only the owner of a file can rename or delete it. Root may use any folder.
 */
async function rejectOpenFolder(folder: string, file: string): Promise<void> {
  if (process.geteuid?.() === 0) return;
  const { mode } = await stat(folder);
  if ((mode & 0o1002) !== 0o0002 || process.platform === 'win32') return;
  throw new QueueError(
    `Expected the folder of the queue ${file} to be writable by its owner only, got mode ${(mode & 0o7777).toString(8).padStart(4, '0')}: any user may replace its files`,
    { file, hint: 'remove the right of other users (chmod o-w), or name a file in another folder' },
  );
}

/**
 * Whether the file exists and has 0 bytes. Throws QueueError if the file is missing or has 0 bytes but its log exists:
 * SQLite would treat the file as new and delete the log.
 */
export async function isEmptyFile(file: string): Promise<boolean> {
  const [bytes, logBytes] = await Promise.all([sizeOf(file), sizeOf(`${file}-wal`)]);
  if (bytes === 0 ? logBytes === undefined : bytes !== undefined || !logBytes) return bytes === 0;
  throw new QueueError(
    `The queue ${file} is ${bytes === 0 ? 'empty' : 'gone'}, but its log ${file}-wal is not`,
    {
      file,
      hint: `put the file back in its place, or move ${file}-wal away to begin a new queue`,
    },
  );
}

/** Whether the file is missing. False for any other problem, which opening the file reports. */
export async function isMissing(file: string): Promise<boolean> {
  try {
    await stat(file);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'; // of a file operation
  }
}

/** Returns the size of a file in bytes. Undefined if there is no such file. */
export async function sizeOf(file: string): Promise<number | undefined> {
  const found = await lstat(file).catch(() => undefined);
  return found?.isFile() ? found.size : undefined;
}

/** Throws QueueError for a file of 0 bytes, a folder, a pipe or a device. */
export async function assertNotEmpty(file: string): Promise<void> {
  assertRegular(file, await stat(file).catch(() => undefined));
  if (!(await isEmptyFile(file))) return;
  throw new QueueError(`Expected a queue in ${file}, got a file of 0 bytes`, {
    file,
    hint: 'restore a backup; commands that add or deliver start a new queue in it',
  });
}

/** Removes a database file that no process uses, with its log. */
export async function removeStore(file: string): Promise<void> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(file + end, { force: true });
}

/** Creates a file of 0 bytes, which SQLite opens as an empty database. Does nothing if the file exists. */
async function makeEmpty(file: string): Promise<void> {
  try {
    await writeFile(file, '', { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // of a file operation
  }
}

async function makePrivate(file: string): Promise<void> {
  const mode = await modeOf(file);
  if (mode !== undefined && (mode & 0o077) !== 0) await chmod(file, 0o600);
}

/** Returns the mode of a file. Undefined if the file does not exist. Throws QueueError if it is not a regular file. */
async function modeOf(file: string): Promise<number | undefined> {
  const found = await lstat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  assertRegular(file, found);
  return found?.mode;
}

function assertRegular(file: string, found: Stats | undefined): void {
  if (found === undefined || found.isFile()) return;
  throw new QueueError(
    `The queue ${file} is not a file${found.isSymbolicLink() ? ' but a symbolic link' : ''}`,
    {
      file,
      hint: 'name the file itself; nothing is written through a link',
    },
  );
}

/** Whether this user has the permissions `mode` (bits such as `W_OK`) on a file or folder. */
export function mayAccess(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}
