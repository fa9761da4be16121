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

/** Version of the checkpoint format. A checkpoint of another version cannot be read. */
const VERSION = 3;

/** Files that record the outcomes of the settled entries. They are synced before a checkpoint refers to them. */
export interface SavedFiles {
  /** The journal of all results except delivered and queued ones. Absent while the journal is empty. */
  readonly results?: ResultsPart | undefined;
  /**
   * The part of the `--failed` file that is written. Absent without `--failed`, and while failed entries are missing from
   * the file.
   */
  readonly failed?: FailedPart | undefined;
}

export interface ResultsPart {
  /** Name of the journal of results, which is in the folder of the checkpoint. */
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

/** An output file whose length the checkpoint records, so that a resumed replay continues it from there. */
export interface FollowedFile<Part> {
  /** The part of the file that was written so far; undefined if nothing was written. */
  part(): Part | undefined;
  /** Resolves when the part of the file that was written is on the disk. */
  sync(): Promise<void>;
}

/** The files that record the outcomes of the settled entries. An entry is added to them before it is marked as settled. */
export interface FollowedFiles {
  readonly results?: FollowedFile<ResultsPart> | undefined;
  readonly failed?: FollowedFile<FailedPart> | undefined;
}

export function checkpointText(saved: Omit<SavedCheckpoint, 'checkpoint'>): string {
  return JSON.stringify({ checkpoint: VERSION, ...saved } satisfies SavedCheckpoint);
}

/**
 * Names the checkpoint of a replay. The name does not depend on the sizes and times of the files, so that the checkpoint
 * is still found after a file has changed, and the change is detected.
 */
export function checkpointName(files: readonly FileIdentity[], identity: string): string {
  const what = JSON.stringify([files.map(({ path }) => path), identity]);
  return createHash('sha256').update(what).digest('hex').slice(0, 32);
}

interface Resumable {
  /** The checkpoint to continue from. Absent if there is nothing to resume. */
  readonly saved?: SavedCheckpoint;
  readonly note?: string;
}

interface CheckpointLocation {
  readonly file: string;
  readonly files: readonly FileIdentity[];
}

/** Returns the checkpoint to continue from, and a note if there is nothing to resume. Throws InputError. */
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

/** Whether a value is a ResultsPart. Its name must not be a path, because it is appended to a folder. */
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

/** Whether a value is a range that begins after the end of the previous range. */
function isRange(range: unknown, index: number, all: readonly unknown[]): boolean {
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isSafeInteger)) return false;
  const [start, end] = range as [number, number]; // checked above
  const before = index === 0 ? -1 : (all[index - 1] as IndexRange)[1]; // checked by the previous call
  return start > before && end > start;
}
