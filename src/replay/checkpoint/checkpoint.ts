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
  /** Folder of the checkpoints. Created if it does not exist. */
  readonly folder: string;
  readonly inputs: readonly Input[];
  /**
   * Text that distinguishes replays of the same inputs, for example by their destination and options. May contain
   * secrets, because only a hash of it is stored.
   */
  readonly identity: string;
  /** Whether to continue where the last replay stopped. Otherwise, this replay starts at the beginning. */
  readonly resume: boolean;
  /** Whether to start at the beginning if `resume` is set but the last replay has finished. @default false */
  readonly again?: boolean;
  readonly clock: Clock;
}

/**
 * Opens the checkpoint of a replay. It records which entries are settled (have any outcome except `unsent`), so that an
 * interrupted replay can be resumed. It is saved at most once a second: after a kill -9, entries that were settled
 * after the last save are sent again. Nothing is saved if an input can be read only once. No other replay can open the
 * checkpoint until it is closed. Throws ReplayInUseError if another replay has it open, and InputError if the folder
 * cannot be created, if the old checkpoint cannot be used, or if `resume` is set and an input can be read only once.
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
  // Discards the old checkpoint now, because it refers to the --failed file, which the caller is about to empty.
  await discard(file);
  return new Checkpoint({ file, files, free, clock, note: saved === undefined ? note : undefined });
}

async function discard(file: string): Promise<void> {
  // Ignores read errors, because an unreadable checkpoint must be removed too.
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
  /** A note for the user that says why `--resume` has nothing to resume. Undefined in all other cases. */
  readonly note: string | undefined;
  /** The saved state of the earlier replay that this one continues. Undefined if this one starts at the beginning. */
  readonly resumed: (SavedFiles & Pick<SavedCheckpoint, 'isFinished'>) | undefined;
  /** The path of the checkpoint. Undefined if nothing is saved, because an input can be read only once. */
  readonly #file: string | undefined;
  readonly #files: readonly FileIdentity[];
  readonly #clock: Clock;
  readonly #free: (() => Promise<void>) | undefined;
  readonly #settled: IndexRanges;
  /** Id that distinguishes this replay from other replays of the same inputs. A resumed replay keeps the id. */
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

  /** Whether the checkpoint is saved to a file. Otherwise, the replay cannot be resumed after an interruption. */
  get isKept(): boolean {
    return this.#file !== undefined;
  }

  /** Returns the path of the journal of results, which may not exist yet. Undefined if no checkpoint is saved. */
  resultsPath(): string | undefined {
    if (this.#file === undefined) return undefined;
    const name = this.resumed?.results?.name;
    if (name !== undefined) return join(dirname(this.#file), name);
    return ownedName(this.#file.replace(/\.json$/, ''), 'results');
  }

  /** Records the parts of these files in every later save, after they are synced to disk. */
  follow(files: FollowedFiles): void {
    this.#followed = files;
  }

  /** Saves the state, so that the replay can be resumed even if it is killed at once. Ignores errors: `finish` saves again. */
  async begin(): Promise<void> {
    await this.#save({ isFinished: this.resumed?.isFinished ?? false }).catch(() => {});
  }

  /**
   * Returns the id of an entry's delivery. A resumed replay uses the same ids, so that a queue does not add a delivery
   * twice. Undefined if no checkpoint is saved.
   */
  deliveryId(index: number): string | undefined {
    return this.#file && `${this.#run}-${index.toString(36).padStart(6, '0')}`;
  }

  /** Whether the entry was settled by this process or by the interrupted replay. */
  has(index: number): boolean {
    return this.#settled.has(index);
  }

  /** Marks an entry as settled. Saves in the background, at most once a second. */
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

  /**
   * Saves for the last time, and closes. `isComplete` is whether all selected entries are settled. Throws InputError if the
   * file cannot be written.
   */
  async finish({ isComplete }: { readonly isComplete: boolean }): Promise<void> {
    await this.#saving;
    await this.#save({ isFinished: isComplete });
    await this.close();
  }

  /** Releases the lock, so that other replays can open the checkpoint. Calls after the first do nothing. */
  async close(): Promise<void> {
    await this.#saving;
    await this.#free?.();
  }

  /** Saves the state as it is at the moment of the call. */
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

/** How long to keep the checkpoint of a finished replay. While it exists, `--resume` does not send the messages again. */
const FINISHED_KEPT_MS = 30 * 24 * 3_600_000;

/**
 * Creates the folder of checkpoints, and removes files that are no longer needed: checkpoints of replays that finished
 * long ago, and temporary files, locks and unused journals of ended processes. Ignores files that cannot be removed,
 * because they are harmless. `now` is in ms since the epoch. Throws InputError if the folder cannot be created.
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
 * Whether a file is the checkpoint of a replay that finished at least FINISHED_KEPT_MS ago. Once it is removed, no
 * checkpoint names its journal of results, so the next replay removes the journal.
 */
async function isLongFinished(path: string, now: number): Promise<boolean> {
  if (now - (await stat(path)).mtimeMs < FINISHED_KEPT_MS) return false;
  return readCheckpoint((await readPrivate(path)) ?? '')?.isFinished === true;
}
