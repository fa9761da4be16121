import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbandoned } from '../../files.ts';
import { LOCK } from './checkpoint-lock.ts';
import { readCheckpoint } from './checkpoint-file.ts';
import { makePrivateFolder, readPrivate } from './private-file.ts';

/** How long a finished replay is remembered, so that `--resume` does not send it again. */
const FINISHED_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Makes the folder of checkpoints, and removes what is no longer needed: temporary files, locks and journals of processes that
 * were killed, and replays that finished long ago. `now` is the time of the wall clock. Throws InputError when the folder
 * cannot be used; ignores files that it cannot remove, which do no harm.
 */
export async function prepareCheckpointFolder(folder: string, now: number): Promise<void> {
  await makePrivateFolder(folder);
  const names = await readdir(folder).catch(() => []);
  await Promise.all(names.map((name) => removeNeedless(folder, name, now).catch(() => {})));
}

async function removeNeedless(folder: string, name: string, now: number): Promise<void> {
  const path = join(folder, name);
  const isNeedless =
    ((name.endsWith('.tmp') || name.endsWith(LOCK)) && isAbandoned(name)) ||
    (name.endsWith('.results') && isAbandoned(name) && !(await isNamedByCheckpoint(folder, name))) ||
    (name.endsWith('.json') && (await isLongFinished(path, now)));
  if (isNeedless) await rm(path, { force: true });
}

async function isNamedByCheckpoint(folder: string, name: string): Promise<boolean> {
  const checkpoint = join(folder, `${name.slice(0, name.indexOf('.'))}.json`);
  return readCheckpoint((await readPrivate(checkpoint)) ?? '')?.results?.name === name;
}

/** Whether a checkpoint finished long ago. Once it is removed, nothing names its journal, which the next replay removes. */
async function isLongFinished(path: string, now: number): Promise<boolean> {
  if (now - (await stat(path)).mtimeMs < FINISHED_KEPT_MS) return false;
  return readCheckpoint((await readPrivate(path)) ?? '')?.isFinished === true;
}
