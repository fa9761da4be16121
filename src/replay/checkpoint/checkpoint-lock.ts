import { open, readdir, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { InputError } from '../../errors.ts';
import { isAbandoned, ownedName, ownerOf } from '../../files.ts';

/** File extension of locks: empty files whose names contain the process id, so that the lock of a dead process is free. */
export const LOCK = '.lock';

/** Reports that another process runs the same replay, which would write the same checkpoint. */
export class ReplayInUseError extends InputError {}

/**
 * Takes the lock of a checkpoint. Resolves to a function that frees the lock. Throws ReplayInUseError, which
 * names the input `name`, while a living process has the lock. If two processes start at the same moment, at
 * least one is rejected, maybe both.
 */
export async function lockCheckpoint(checkpoint: string, name: string): Promise<() => Promise<void>> {
  const prefix = checkpoint.replace(/\.json$/, '');
  const own = ownedName(prefix, LOCK.slice(1));
  const free = (): Promise<void> => rm(own, { force: true }).catch(() => {});
  // Creates this lock before looking for others, so that at least the later of two processes sees the lock of the other.
  await (await open(own, 'wx', 0o600)).close();
  const names = await readdir(dirname(checkpoint));
  const other = names.find((each) => each !== basename(own) && isLockOf(each, basename(prefix)));
  if (other === undefined) return free;
  await free();
  throw new ReplayInUseError(`Already being replayed to the same destination by process ${ownerOf(other)}`, {
    file: name,
    hint: 'wait until that replay ends, or stop it',
  });
}

function isLockOf(name: string, prefix: string): boolean {
  return name.startsWith(`${prefix}.`) && name.endsWith(LOCK) && !isAbandoned(name);
}
