import type { JobJson } from 'bullmq';
import type { SeriesEntry, NewEntry } from './server.ts';

/** BullMQ's default: its tools look there. */
export const BULLMQ_PREFIX = 'bull';

/** The field of a series that says how many of BullMQ's events are kept, and how many: no part of hooks reads any, and Bull Board shows the latest. */
export const EVENTS_LIMIT = { field: 'opts.maxLenEvents', value: '100' } as const;

/** The fields of a job that are ever read, and whether it is locked. The last four are JSON. */
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

/** Converts an entry to BullMQ's form; `mark` tells what one call added. Its data must be JSON, without the characters that PostgreSQL's JSON cannot hold. */
export function toJob({ id, name, text, addedAt, dueAt, lines = [] }: NewEntry, mark?: string): JobJson {
  const delay = dueAt === undefined ? 0 : Math.max(0, Math.ceil(dueAt - addedAt));
  return {
    id,
    name: legible(name),
    data: storable(text),
    // Kept with each: nothing else would be read.
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

/** Makes a name that PostgreSQL's text can hold: an invalid message may have any name. */
export function legible(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/** JSON as it is, unless it names a character that PostgreSQL's JSON cannot hold: then as a string of JSON. */
function storable(text: string): string {
  return /\\u0000|\\ud[89a-f]/i.test(text) ? JSON.stringify(text) : text;
}

export function toEntry(fields: JobFields): SeriesEntry {
  const { id, name, isLocked, data, failedReason, addedAt, takes } = fields;
  const [takenAt, settledAt] = [fields.takenAt ?? undefined, fields.settledAt ?? undefined];
  const reason = failedReason || undefined; // either store may have an empty one
  const settledState = reason === undefined ? 'completed' : 'failed';
  const state = settledAt !== undefined ? settledState : isLocked ? 'active' : 'waiting';
  const text = textOf(data);
  return { id, name, state, text, note: noteOf(fields), reason, addedAt, takes, takenAt, settledAt };
}

/** Data is JSON, mostly of an object: only a string of JSON is parsed here. Unreadable data is for the reader of the text. */
function textOf(data: string): string {
  if (!data.startsWith('"')) return data;
  try {
    return JSON.parse(data) as string; // it begins like one
  } catch {
    return data;
  }
}

/** Where it was written last: with the end of it, or before. */
function noteOf({ returnvalue, stacktrace, failedReason, progress }: JobFields): string | undefined {
  const failed = failedReason ? parse(stacktrace) : undefined;
  const notes = [parse(returnvalue), Array.isArray(failed) ? failed[0] : undefined, parse(progress)];
  return notes.find((note) => typeof note === 'string');
}

function parse(json: string | null | undefined): unknown {
  return json ? JSON.parse(json) : undefined;
}
