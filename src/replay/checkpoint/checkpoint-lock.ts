import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { InputError } from '../../errors.ts';
import { isAbandoned, ownedName, ownerOf } from '../../files.ts';

/** The extension of locks. A lock is an empty file whose name identifies its process, so that a kill -9 frees it. */
export const LOCK = '.lock';

/** The same replay is being run by another process: both would write one checkpoint. */
export class ReplayInUseError extends InputError {}

/**
 * Takes the lock of a checkpoint. Resolves to a function that frees it. Throws ReplayInUseError, which calls the input `name`,
 * while a living process has it. Of two that start at the same moment both may be rejected, but never none.
 */
export async function lockCheckpoint(checkpoint: string, name: string): Promise<() => Promise<void>> {
  const prefix = checkpoint.replace(/\.json$/, '');
  const own = ownedName(prefix, LOCK.slice(1));
  const free = (): Promise<void> => rm(own, { force: true }).catch(() => {});
  // Before looking for others: each of two sees at least the other one.
  await (await open(own, 'wx', 0o600)).close();
  const names = await readdir(dirname(checkpoint));
  const other = names.find((each) => each !== basename(own) && isLockOf(each, basename(prefix)));
  if (other === undefined) return free;
  await free();
  throw new ReplayInUseError(`Already being replayed to the same place by process ${ownerOf(other)}`, {
    file: name,
    hint: 'wait until that replay ends, or stop it',
  });
}

function isLockOf(name: string, prefix: string): boolean {
  return name.startsWith(`${prefix}.`) && name.endsWith(LOCK) && !isAbandoned(name);
}
