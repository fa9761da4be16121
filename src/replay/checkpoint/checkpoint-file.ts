import { createHash } from 'node:crypto';
import { InputError } from '../../errors.ts';
import type { IndexRange } from '../index-ranges.ts';
import type { FileIdentity } from '../reading/inputs.ts';

export interface SavedCheckpoint extends SavedFiles {
  readonly checkpoint: typeof VERSION;
  /** Prefix of the ids of the replay's deliveries. */
  readonly run: string;
  readonly files: readonly FileIdentity[];
  /** Indexes of the settled entries, counted from 0 over all inputs. */
  readonly settled: readonly IndexRange[];
  /** Whether every entry that the replay selects is settled. */
  readonly isFinished: boolean;
}

/** Version of the checkpoint format. Checkpoints of other versions are rejected. */
const VERSION = 3;

/** The parts of the output files that a resumed replay keeps. Synced to disk before the checkpoint is saved. */
export interface SavedFiles {
  /** The journal of failed, invalid and filtered entries. Absent while the journal is empty. */
  readonly results?: ResultsPart | undefined;
  /**
   * The part of the `--failed` file to keep. Absent without `--failed`, and as long as entries that failed before an
   * interruption are missing from the file.
   */
  readonly failed?: FailedPart | undefined;
}

export interface ResultsPart {
  /** File name of the journal of results, which is in the folder of the checkpoint. */
  readonly name: string;
  readonly bytes: number;
}

/**
 * The part of the `--failed` file that a resumed replay keeps. It ends before the unsent entries, because the resumed
 * replay sends them.
 */
export interface FailedPart {
  readonly path: string;
  readonly bytes: number;
  readonly crc32: number;
}

/** An output file that a resumed replay continues after the part that the checkpoint records. */
export interface FollowedFile<Part> {
  /** Returns the part to record in the checkpoint. Undefined if a resumed replay must start the file from the beginning. */
  part(): Part | undefined;
  /** Resolves when the bytes in `part()` are on disk. */
  sync(): Promise<void>;
}

/**
 * The output files that a resumed replay continues. An entry that belongs in a file is added before it is marked as
 * settled.
 */
export interface FollowedFiles {
  readonly results?: FollowedFile<ResultsPart> | undefined;
  readonly failed?: FollowedFile<FailedPart> | undefined;
}

export function checkpointText(saved: Omit<SavedCheckpoint, 'checkpoint'>): string {
  return JSON.stringify({ checkpoint: VERSION, ...saved } satisfies SavedCheckpoint);
}

/**
 * Returns the name of a replay's checkpoint, without a file extension. The name does not depend on the sizes and
 * modification times of the inputs, so that the checkpoint is still found, and the change reported, if an input has
 * changed.
 */
export function checkpointName(files: readonly FileIdentity[], identity: string): string {
  const what = JSON.stringify([files.map(({ path }) => path), identity]);
  return createHash('sha256').update(what).digest('hex').slice(0, 32);
}

interface Resumable {
  /** The checkpoint of the interrupted or finished replay. Absent if the replay must start at the beginning. */
  readonly saved?: SavedCheckpoint;
  readonly note?: string;
}

interface CheckpointLocation {
  readonly file: string;
  readonly files: readonly FileIdentity[];
}

/**
 * Returns the checkpoint in `text`, and a note for the user if there is nothing to resume. Throws InputError if `text`
 * is not a checkpoint of this version.
 */
export function resumeFrom(text: string | undefined, { file, files }: CheckpointLocation): Resumable {
  if (text === undefined) {
    return {
      note: 'nothing to resume: no interrupted replay of these inputs to this destination is known, so it starts at the beginning',
    };
  }
  const saved = savedIn(text, file);
  const changed = files.filter((each, index) => {
    const before = saved.files[index];
    return before?.bytes !== each.bytes || before.modifiedAtNs !== each.modifiedAtNs;
  });
  if (changed.length === 0) return saved.isFinished ? { saved, note: FINISHED } : { saved };
  const names = changed.map(({ path }) => path).join(', ');
  return {
    note: `nothing to resume: changed since the interrupted replay, so it starts at the beginning: ${names}`,
  };
}

const FINISHED = 'nothing to resume: this replay is finished, so nothing is sent; --again sends it again';

/** Parses a checkpoint; undefined if the text is not a checkpoint of this version. */
export function readCheckpoint(text: string): SavedCheckpoint | undefined {
  try {
    const saved: unknown = JSON.parse(text);
    return isSaved(saved) ? saved : undefined;
  } catch {
    return undefined;
  }
}

function savedIn(text: string, file: string): SavedCheckpoint {
  const saved = readCheckpoint(text);
  if (saved !== undefined) return saved;
  throw new InputError('The checkpoint is damaged, or was written by another version of hooks', {
    file,
    hint: 'finish the replay with that version; or replay without --resume, which sends all its messages again',
  });
}

function isSaved(value: unknown): value is SavedCheckpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { checkpoint, run, files, settled, isFinished, results, failed } = value as Partial<SavedCheckpoint>; // each field is validated below
  const isWhole = Array.isArray(files) && Array.isArray(settled) && settled.every(isRange);
  return (
    checkpoint === VERSION &&
    isWhole &&
    typeof isFinished === 'boolean' &&
    typeof run === 'string' &&
    (results === undefined || isResultsPart(results)) &&
    (failed === undefined || isFailedPart(failed))
  );
}

/** Whether a value is a ResultsPart. Rejects a `name` with a slash, because it is joined to the path of a folder. */
function isResultsPart(results: unknown): boolean {
  if (typeof results !== 'object' || results === null) return false;
  const { name, bytes } = results as Partial<ResultsPart>; // each field is validated below
  return typeof name === 'string' && /^[\w.-]+$/.test(name) && isCount(bytes);
}

function isFailedPart(failed: unknown): boolean {
  if (typeof failed !== 'object' || failed === null) return false;
  const { path, bytes, crc32 } = failed as Partial<FailedPart>; // each field is validated below
  return typeof path === 'string' && isCount(bytes) && isCount(crc32);
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

/** Whether a value is a non-empty range that leaves a gap to the previous range. */
function isRange(range: unknown, index: number, all: readonly unknown[]): boolean {
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isSafeInteger)) return false;
  const [start, end] = range as [number, number]; // checked above
  const before = index === 0 ? -1 : (all[index - 1] as IndexRange)[1]; // checked by the previous call
  return start > before && end > start;
}
