import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { InputError } from '../errors.ts';
import { nameOf, resumable, type FailedPart, type SavedCheckpoint } from './checkpoint-file.ts';
import { IndexRanges, type Range } from './index-ranges.ts';
import type { FileIdentity, Input } from './inputs.ts';
import { makePrivateFolder, readPrivate, removePrivate, writePrivate } from './private-file.ts';

const SAVE_EVERY_MS = 1_000;

export interface CheckpointOptions {
  /** A folder of checkpoints, made when it is missing. */
  readonly folder: string;
  readonly inputs: readonly Input[];
  /**
   * Where the messages go and what decides which of them and as what: a replay with other words here is another
   * replay. Only its hash is kept, so it may hold secrets.
   */
  readonly identity: string;
  /** Carry on where the last one stopped; else start anew. */
  readonly resume: boolean;
  readonly clock: Clock;
}

/**
 * Remembers which entries are settled (delivered, failed, filtered, invalid: all but unsent), so that an interrupted
 * replay can be resumed. Saved at most once a second: what was settled within the last second before a kill -9 is
 * sent again. Throws InputError when its file cannot be used, and, when resuming, for inputs that can be read only once.
 */
export async function openCheckpoint(options: CheckpointOptions): Promise<Checkpoint> {
  const { inputs, folder, clock, resume } = options;
  const once = inputs.find(({ identity }) => identity === undefined);
  if (once !== undefined && resume) {
    throw new InputError('cannot be resumed from: it can be read only once', {
      file: once.name,
      hint: 'write it to a file first, and replay that',
    });
  }
  const files = inputs.flatMap(({ identity }) => identity ?? []);
  if (once !== undefined) return new Checkpoint({ files, clock });
  await makePrivateFolder(folder);
  const file = join(folder, `${nameOf(files, options.identity)}.json`);
  const { settled, failed, note } = resume ? resumable(await readPrivate(file), { file, files }) : {};
  return new Checkpoint({ file, files, clock, settled, failed, note });
}

interface CheckpointState {
  readonly file?: string;
  readonly files: readonly FileIdentity[];
  readonly clock: Clock;
  readonly settled?: readonly Range[] | undefined;
  readonly failed?: FailedPart | undefined;
  readonly note?: string | undefined;
}

export class Checkpoint {
  /** What a person who resumes should know; undefined when there is nothing to say. */
  readonly note: string | undefined;
  /** Of the replay that is resumed; at the end, of this one. */
  failed: FailedPart | undefined;
  /** Undefined when there is nothing to resume from later: nothing is kept then. */
  readonly #file: string | undefined;
  readonly #files: readonly FileIdentity[];
  readonly #clock: Clock;
  readonly #settled: IndexRanges;
  #savedAt: number;
  #saving: Promise<void> | undefined;

  constructor({ file, files, clock, settled, failed, note }: CheckpointState) {
    this.#file = file;
    this.#files = files;
    this.#clock = clock;
    this.#settled = new IndexRanges(settled);
    this.#savedAt = clock.now();
    this.failed = failed;
    this.note = note;
  }

  /** Whether it is kept, so that an interrupted replay can be resumed. */
  get isKept(): boolean {
    return this.#file !== undefined;
  }

  /** Whether the entry was settled, now or by the replay that is resumed. */
  has(index: number): boolean {
    return this.#settled.has(index);
  }

  /** The entry is settled. Saves in the background when it is time. */
  mark(index: number): void {
    if (this.#file === undefined) return;
    this.#settled.add(index);
    const now = this.#clock.now();
    if (this.#saving !== undefined || now - this.#savedAt < SAVE_EVERY_MS) return;
    this.#savedAt = now;
    this.#saving = this.#save()
      .catch(() => {
        // The last save, or the next one, says so.
      })
      .finally(() => {
        this.#saving = undefined;
      });
  }

  /** The replay ends. `isComplete`: every entry of every input is settled, so there is nothing to resume. Throws InputError. */
  async finish({ isComplete }: { readonly isComplete: boolean }): Promise<void> {
    if (this.#file === undefined) return;
    await this.#saving;
    if (isComplete) await removePrivate(this.#file);
    else await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#file === undefined) return;
    const settled = this.#settled.toJSON();
    const saved: SavedCheckpoint = { checkpoint: 1, files: this.#files, settled, failed: this.failed };
    await writePrivate(this.#file, JSON.stringify(saved));
  }
}
