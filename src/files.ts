import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/*
 * Temporary files that a process writes until they are complete. Their names identify the process, so that a later one can
 * remove what a kill -9 has left behind.
 */

const OWNER = /\.(\d{1,10})-([0-9a-f]{8})-\d+\.[a-z]+$/;

/** Distinguishes this process from an earlier one with the same id, which is the rule in a container. */
const RUN = randomBytes(4).toString('hex');

let count = 0;

/** Returns a name unique to this process: `${prefix}.${process id}-${run}-${count}.${extension}`; the prefix may be a path. */
export function ownedName(prefix: string, extension: string): string {
  count++;
  return `${prefix}.${process.pid}-${RUN}-${count}.${extension}`;
}

/** The id of the process that made this name; undefined for a name that `ownedName` did not make. */
export function ownerOf(name: string): string | undefined {
  return OWNER.exec(name)?.[1];
}

/** Whether the process that made this name has ended. False for a name that `ownedName` did not make. */
export function isAbandoned(name: string): boolean {
  const [, id = '', run] = OWNER.exec(name) ?? [];
  if (id === '' || run === RUN) return false;
  const pid = Number(id);
  return pid === process.pid || isProcessGone(pid);
}

/** Names a hidden temporary file in the folder of `target`, on the same file system, so that a rename can replace `target`. */
export function temporaryFileBeside(target: string): string {
  return join(dirname(target), ownedName(hiddenPrefix(target), 'tmp'));
}

/** Removes the temporary files of `target` whose processes have ended. Ignores files that it cannot remove: they do no harm. */
export async function removeAbandonedBeside(target: string): Promise<void> {
  const { readdir, rm } = process.getBuiltinModule('node:fs/promises');
  const folder = dirname(target);
  const prefix = `${hiddenPrefix(target)}.`;
  const names = await readdir(folder).catch(() => []);
  const abandoned = names.filter((name) => {
    const isTemporary = name.startsWith(prefix) && OWNER.exec(name)?.index === prefix.length - 1;
    return isTemporary && name.endsWith('.tmp') && isAbandoned(name);
  });
  await Promise.all(abandoned.map((name) => rm(join(folder, name), { force: true }).catch(() => {})));
}

function hiddenPrefix(target: string): string {
  return `.${basename(target)}`;
}

/** Whether no process has this id. One that this user may not signal exists. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'; // of kill(2)
  }
}

/**
 * Makes a folder (an absolute path) and its missing parents, each with `mode`. Node's own `recursive` never returns where
 * the system cannot make a folder in an existing one, as in /proc. Throws what `mkdir` throws.
 */
export function makeFolder(path: string, mode: number): void {
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) makeFolder(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it first.
    if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
