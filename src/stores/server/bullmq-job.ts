import type { JobJson } from 'bullmq';
import type { SeriesEntry, NewEntry } from './server.ts';

/** The fields of a job that hooks reads. `data`, `returnvalue`, `stacktrace` and `progress` are JSON. */
export interface JobFields extends Pick<SeriesEntry, 'id' | 'name' | 'addedAt' | 'takes'> {
  readonly isLocked: boolean;
  readonly takenAt?: number | null | undefined;
  readonly settledAt?: number | null | undefined;
  readonly failedReason?: string | null | undefined;
  readonly data: string;
  readonly returnvalue?: string | null | undefined;
  readonly stacktrace?: string | null | undefined;
  readonly progress?: string | null | undefined;
}

/** Converts an entry to a job of BullMQ. `mark` is stored with an entry in lines, and identifies the call that added it. */
export function toJob({ id, name, text, addedAt, dueAt, lines = [] }: NewEntry, mark?: string): JobJson {
  const delay = dueAt === undefined ? 0 : Math.max(0, Math.ceil(dueAt - addedAt));
  return {
    id,
    name: legible(name),
    data: storable(text),
    // Leaves out all other options, because each job stores its options.
    opts: { ...(delay > 0 && { delay }), ...(mark !== undefined && lines.length > 0 && { mark }) },
    delay,
    timestamp: addedAt,
    progress: 0,
    attemptsMade: 0,
    attemptsStarted: 0,
    stalledCounter: 0,
    failedReason: '',
    returnvalue: 'null',
  };
}

const LONGEST_NAME = 100;

/** Shortens a name and replaces characters that PostgreSQL cannot store: the name of an invalid message can be anything. */
export function legible(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/** Returns JSON unchanged, or as a JSON string if it contains an escape that PostgreSQL's JSON cannot store. */
function storable(text: string): string {
  return /\\u0000|\\ud[89a-f]/i.test(text) ? JSON.stringify(text) : text;
}

export function toEntry(fields: JobFields): SeriesEntry {
  const { id, name, isLocked, data, failedReason, addedAt, takes } = fields;
  const [takenAt, settledAt] = [fields.takenAt ?? undefined, fields.settledAt ?? undefined];
  const reason = failedReason || undefined; // both servers may return an empty one
  const settledState = reason === undefined ? 'completed' : 'failed';
  const state = settledAt !== undefined ? settledState : isLocked ? 'active' : 'waiting';
  const text = textOf(data);
  return { id, name, state, text, note: noteOf(fields), reason, addedAt, takes, takenAt, settledAt };
}

/** Reverses `storable`. Returns unreadable data unchanged; `toDelivery` then reports a damaged delivery. */
function textOf(data: string): string {
  if (!data.startsWith('"')) return data;
  try {
    return JSON.parse(data) as string; // begins like a string
  } catch {
    return data;
  }
}

/** The note that was written last. It is in another field of the job after the entry was completed or failed. */
function noteOf({ returnvalue, stacktrace, failedReason, progress }: JobFields): string | undefined {
  const failed = failedReason ? parse(stacktrace) : undefined;
  const notes = [parse(returnvalue), Array.isArray(failed) ? failed[0] : undefined, parse(progress)];
  return notes.find((note) => typeof note === 'string');
}

function parse(json: string | null | undefined): unknown {
  return json ? JSON.parse(json) : undefined;
}
