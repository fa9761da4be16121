import { randomBytes } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../../clock.ts';
import { InputError } from '../../errors.ts';
import { isAbandoned, ownedName } from '../../files.ts';
import { IndexRanges } from '../index-ranges.ts';
import type { FileIdentity, Input } from '../reading/inputs.ts';
import {
  checkpointName,
  checkpointText,
  readCheckpoint,
  resumeFrom,
  type FollowedFiles,
  type SavedCheckpoint,
  type SavedFiles,
} from './checkpoint-file.ts';
import { LOCK, lockCheckpoint } from './checkpoint-lock.ts';
import { makePrivateFolder, readPrivate, removePrivate, writePrivate } from './private-file.ts';

const SAVE_EVERY_MS = 1_000;

export interface CheckpointOptions {
  /** Folder of the checkpoints; created if missing. */
  readonly folder: string;
  readonly inputs: readonly Input[];
  /**
   * Text that describes the destination, selection and form of the messages: a different text makes a
   * different replay. Only its hash is stored, so it may contain secrets.
   */
  readonly identity: string;
  /** Whether to continue where the last replay stopped. Otherwise, this replay starts at the beginning. */
  readonly resume: boolean;
  /** Whether to start at the beginning if the last replay finished. @default false */
  readonly again?: boolean;
  readonly clock: Clock;
}

/**
 * Opens the checkpoint of a replay, which stores the settled entries (delivered, failed, filtered, invalid: all but
 * unsent), so that an interrupted replay can be resumed. The checkpoint is saved at most once a second: entries settled
 * within the last second before a kill -9 are sent again. No other replay can open it until it is closed. Throws
 * ReplayInUseError, and InputError if its file cannot be used, or if `resume` is set for an input that can be read only
 * once.
 */
export async function openCheckpoint(options: CheckpointOptions): Promise<Checkpoint> {
  const { inputs, folder, clock, resume } = options;
  const once = inputs.find(({ identity }) => identity === undefined);
  if (once !== undefined && resume) {
    throw new InputError('Cannot be resumed: this input can be read only once', {
      file: once.name,
      hint: 'write it to a file first, and replay that',
    });
  }
  const files = inputs.flatMap(({ identity }) => identity ?? []);
  if (once !== undefined) return new Checkpoint({ files, clock });
  await prepareCheckpointFolder(folder, clock.now());
  const file = join(folder, `${checkpointName(files, options.identity)}.json`);
  const free = await lockCheckpoint(file, files[0]?.path ?? file);
  try {
    return await lockedCheckpoint({ ...options, file, files, free });
  } catch (error) {
    await free();
    throw error;
  }
}

interface LockedCheckpoint extends CheckpointOptions {
  readonly file: string;
  readonly files: readonly FileIdentity[];
  readonly free: () => Promise<void>;
}

async function lockedCheckpoint(options: LockedCheckpoint): Promise<Checkpoint> {
  const { file, files, free, clock, resume, again = false } = options;
  const { saved, note } = resume ? resumeFrom(await readPrivate(file), { file, files }) : {};
  if (saved !== undefined && !(again && saved.isFinished)) {
    return new Checkpoint({ file, files, free, clock, saved, note });
  }
  // Discards the old checkpoint before the caller empties the --failed file, because the old checkpoint refers to that file.
  await discard(file);
  return new Checkpoint({ file, files, free, clock, note: saved === undefined ? note : undefined });
}

async function discard(file: string): Promise<void> {
  // Ignores a read error, because an unreadable checkpoint must be removed like a readable one.
  const text = await readPrivate(file).catch(() => undefined);
  const results = readCheckpoint(text ?? '')?.results;
  await removePrivate(file);
  if (results !== undefined) await removePrivate(join(dirname(file), results.name));
}

interface CheckpointState {
  readonly file?: string;
  readonly free?: () => Promise<void>;
  readonly files: readonly FileIdentity[];
  readonly clock: Clock;
  readonly saved?: SavedCheckpoint | undefined;
  readonly note?: string | undefined;
}

export class Checkpoint {
  /** A note for the user: why `--resume` does not continue an earlier replay. Undefined if there is no such note. */
  readonly note: string | undefined;
  /** The saved state of the interrupted replay that this one continues. Undefined without one. */
  readonly resumed: (SavedFiles & Pick<SavedCheckpoint, 'isFinished'>) | undefined;
  /** The file of the checkpoint. Undefined if the replay cannot be resumed later, so that nothing is saved. */
  readonly #file: string | undefined;
  readonly #files: readonly FileIdentity[];
  readonly #clock: Clock;
  readonly #free: (() => Promise<void>) | undefined;
  readonly #settled: IndexRanges;
  /** Id that distinguishes this replay from other replays of the same inputs. A resumed replay keeps its id. */
  readonly #run: string;
  #followed: FollowedFiles = {};
  #savedAt: number;
  #saving: Promise<void> | undefined;

  constructor({ file, free, files, clock, saved, note }: CheckpointState) {
    this.#file = file;
    this.#free = free;
    this.#files = files;
    this.#clock = clock;
    this.#settled = new IndexRanges(saved?.settled);
    this.#run = saved?.run ?? randomBytes(9).toString('hex');
    this.#savedAt = clock.now();
    this.resumed = saved;
    this.note = note;
  }

  /** Whether the checkpoint is saved to a file. Otherwise, an interrupted replay cannot be resumed. */
  get isKept(): boolean {
    return this.#file !== undefined;
  }

  /** The path of the journal of results, which may not exist yet; undefined if no checkpoint is saved. */
  resultsPath(): string | undefined {
    if (this.#file === undefined) return undefined;
    const name = this.resumed?.results?.name;
    if (name !== undefined) return join(dirname(this.#file), name);
    return ownedName(this.#file.replace(/\.json$/, ''), 'results');
  }

  /** Makes every later save wait until the contents of these files are on the disk. */
  follow(files: FollowedFiles): void {
    this.#followed = files;
  }

  /** Saves the state, so that a replay that is killed at once can be resumed. Ignores failures: the last save reports them. */
  async begin(): Promise<void> {
    await this.#save({ isFinished: this.resumed?.isFinished ?? false }).catch(() => {});
  }

  /** The id of an entry's delivery: the same in a resumed replay, so a queue adds it once. Undefined without a checkpoint. */
  deliveryId(index: number): string | undefined {
    return this.#file && `${this.#run}-${index.toString(36).padStart(6, '0')}`;
  }

  /** Whether the entry was settled by this process or by the interrupted replay. */
  has(index: number): boolean {
    return this.#settled.has(index);
  }

  /** Marks an entry as settled. Saves in the background once a second. */
  mark(index: number): void {
    if (this.#file === undefined) return;
    this.#settled.add(index);
    const now = this.#clock.now();
    if (this.#saving !== undefined || now - this.#savedAt < SAVE_EVERY_MS) return;
    this.#savedAt = now;
    this.#saving = this.begin().finally(() => {
      this.#saving = undefined;
    });
  }

  /** Saves at the end of the replay. `isComplete`: every selected entry is settled. Throws InputError. */
  async finish({ isComplete }: { readonly isComplete: boolean }): Promise<void> {
    await this.#saving;
    await this.#save({ isFinished: isComplete });
    await this.close();
  }

  /** Lets other replays open the checkpoint. Calls after the first do nothing. */
  async close(): Promise<void> {
    await this.#saving;
    await this.#free?.();
  }

  /** Saves a consistent snapshot of the state at the moment of the call. */
  async #save({ isFinished }: Pick<SavedCheckpoint, 'isFinished'>): Promise<void> {
    if (this.#file === undefined) return;
    const { results, failed } = this.#followed;
    const text = checkpointText({
      run: this.#run,
      files: this.#files,
      settled: this.#settled.toJSON(),
      results: results?.part(),
      failed: failed?.part(),
      isFinished,
    });
    await Promise.all([results?.sync(), failed?.sync()]);
    await writePrivate(this.#file, text);
  }
}

/** How long the checkpoint of a finished replay is kept, so that `--resume` does not send it again. */
const FINISHED_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Makes the folder of checkpoints, and removes needless files: temporary files, locks and journals of killed
 * processes, and checkpoints that finished long ago. `now` is the time of the wall clock. Throws InputError
 * if the folder cannot be used. Ignores files that it cannot remove, because they do no harm.
 */
async function prepareCheckpointFolder(folder: string, now: number): Promise<void> {
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

/**
 * Whether a checkpoint finished at least FINISHED_KEPT_MS ago. After its removal, no checkpoint names its journal of
 * results, so the next replay removes that journal.
 */
async function isLongFinished(path: string, now: number): Promise<boolean> {
  if (now - (await stat(path)).mtimeMs < FINISHED_KEPT_MS) return false;
  return readCheckpoint((await readPrivate(path)) ?? '')?.isFinished === true;
}
