import { createHash } from 'node:crypto';
import { InputError } from '../errors.ts';
import type { Range } from './index-ranges.ts';
import type { FileIdentity } from './inputs.ts';

/** What is on the disk. */
export interface SavedCheckpoint {
  readonly checkpoint: 1;
  readonly files: readonly FileIdentity[];
  /** The indexes of the entries that are settled, counted from 0 over all inputs. */
  readonly settled: readonly Range[];
  readonly failed?: FailedPart | undefined;
}

/** Of the file of `--failed`: what stands before the unsent, which are sent when the replay is resumed. */
export interface FailedPart {
  readonly path: string;
  readonly bytes: number;
}

/** Without sizes and times, so that a changed file is found to have changed. */
export function nameOf(files: readonly FileIdentity[], identity: string): string {
  const what = JSON.stringify([files.map(({ path }) => path), identity]);
  return createHash('sha256').update(what).digest('hex').slice(0, 32);
}

interface Resumable {
  readonly settled?: readonly Range[];
  readonly failed?: FailedPart | undefined;
  readonly note?: string;
}

interface Place {
  readonly file: string;
  readonly files: readonly FileIdentity[];
}

/** What an interrupted replay has settled, or the note that says why that is of no use. Throws InputError. */
export function resumable(text: string | undefined, { file, files }: Place): Resumable {
  if (text === undefined) {
    return {
      note: 'nothing to resume: no interrupted replay of these inputs to this place is known, so it starts at the beginning',
    };
  }
  const saved = savedIn(text, file);
  const changed = files.filter((each, index) => {
    const before = saved.files[index];
    return before?.bytes !== each.bytes || before.modifiedAtNs !== each.modifiedAtNs;
  });
  if (changed.length === 0) return { settled: saved.settled, failed: saved.failed };
  const names = changed.map(({ path }) => path).join(', ');
  return {
    note: `nothing to resume: changed since the interrupted replay, so it starts at the beginning: ${names}`,
  };
}

function savedIn(text: string, file: string): SavedCheckpoint {
  try {
    const saved: unknown = JSON.parse(text);
    if (isSaved(saved)) return saved;
  } catch {
    // Refused below, like any other text that is no checkpoint.
  }
  throw new InputError('is not a checkpoint that can be read', {
    file,
    hint: 'replay without --resume to start at the beginning, or remove the file',
  });
}

function isSaved(value: unknown): value is SavedCheckpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { checkpoint, files, settled, failed } = value as Partial<SavedCheckpoint>; // each is looked at
  const isWhole = Array.isArray(files) && Array.isArray(settled) && settled.every(isRange);
  return checkpoint === 1 && isWhole && (failed === undefined || isFailedPart(failed));
}

function isFailedPart(failed: unknown): boolean {
  if (typeof failed !== 'object' || failed === null) return false;
  const { path, bytes } = failed as Partial<FailedPart>; // each is looked at
  return typeof path === 'string' && Number.isSafeInteger(bytes) && Number(bytes) >= 0;
}

/** Each range begins after the one before has ended. */
function isRange(range: unknown, index: number, all: readonly unknown[]): boolean {
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isSafeInteger)) return false;
  const [start, end] = range as [number, number]; // checked above
  const before = index === 0 ? -1 : (all[index - 1] as Range)[1]; // checked on the turn before
  return start > before && end > start;
}
