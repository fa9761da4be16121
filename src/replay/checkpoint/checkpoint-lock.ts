import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { InputError } from '../../errors.ts';
import { isAbandoned, ownedName, ownerOf } from '../../files.ts';
import { unusablePrivateFile } from './private-file.ts';

/** File extension of locks. Their names contain a process id, so that locks of ended processes can be ignored. */
export const LOCK = '.lock';

/** Thrown if the same replay is already running, because both would write the same checkpoint. */
export class ReplayInUseError extends InputError {}

/**
 * Locks a checkpoint and resolves to a function that releases the lock. Throws ReplayInUseError, with `name` as its
 * file, if another replay holds the lock. If two replays start at the same moment, one or both are rejected. Throws
 * InputError if the lock cannot be written.
 */
export async function lockCheckpoint(checkpoint: string, name: string): Promise<() => Promise<void>> {
  const prefix = checkpoint.replace(/\.json$/, '');
  const own = ownedName(prefix, LOCK.slice(1));
  const free = (): Promise<void> => rm(own, { force: true }).catch(() => {});
  // Creates the lock before looking for others, so that the later of two processes always sees the earlier lock.
  const names = await namesBeside(own).catch((error: unknown) => {
    throw unusablePrivateFile(own, error);
  });
  const other = names.find((each) => each !== basename(own) && isLockOf(each, basename(prefix)));
  if (other === undefined) return free;
  await free();
  throw new ReplayInUseError(`Already being replayed to the same destination by process ${ownerOf(other)}`, {
    file: name,
    hint: 'wait until that replay ends, or stop it',
  });
}

/** Creates a lock, and returns the names of all files in its folder. */
async function namesBeside(lock: string): Promise<readonly string[]> {
  await (await open(lock, 'wx', 0o600)).close();
  return readdir(dirname(lock));
}

function isLockOf(name: string, prefix: string): boolean {
  return name.startsWith(`${prefix}.`) && name.endsWith(LOCK) && !isAbandoned(name);
}
