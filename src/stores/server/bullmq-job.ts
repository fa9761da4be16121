import type { JobJson } from 'bullmq';
import type { SeriesEntry, NewEntry } from './server.ts';

/** BullMQ's default: its tools look there. */
export const BULLMQ_PREFIX = 'bull';

/** The field of a series that says how many of BullMQ's events are kept, and how many: no part of hooks reads any, and Bull Board shows the latest. */
export const EVENTS_LIMIT = { field: 'opts.maxLenEvents', value: '100' } as const;

/** The fields of a job that are ever read, and whether it is locked. */
export type JobFields = { readonly isLocked: boolean } & Pick<
  JobJson,
  | 'id'
  | 'name'
  | 'data'
  | 'timestamp'
  | 'attemptsStarted'
  | 'processedOn'
  | 'finishedOn'
  | 'failedReason'
  | 'returnvalue'
  | 'stacktrace'
  | 'progress'
>;

/** Converts an entry to BullMQ's form. Its data must be JSON, without the characters that PostgreSQL's JSON cannot hold. */
export function toJob({ id, name, text, addedAt, dueAt }: NewEntry): JobJson {
  const delay = dueAt === undefined ? 0 : Math.max(0, Math.ceil(dueAt - addedAt));
  return {
    id,
    name: legible(name),
    data: storable(text),
    // Kept with each: nothing else would be read.
    opts: delay === 0 ? {} : { delay },
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
  const { id, name, data, timestamp, attemptsStarted, processedOn, finishedOn, failedReason } = fields;
  return {
    id,
    name,
    state: stateOf(fields),
    text: textOf(data),
    note: noteOf(fields),
    reason: failedReason || undefined, // absent over Redis, whatever the type says
    addedAt: timestamp,
    takes: attemptsStarted,
    takenAt: processedOn,
    settledAt: finishedOn,
  };
}

function stateOf({ isLocked, finishedOn, failedReason }: JobFields): SeriesEntry['state'] {
  if (finishedOn !== undefined) return failedReason ? 'failed' : 'completed';
  return isLocked ? 'active' : 'waiting';
}

/** Data is JSON, mostly of an object: only a string of JSON is parsed here. Unreadable data is for the reader of the text. */
function textOf(data: string): string {
  if (!data.startsWith('"')) return data;
  const text = parseOr(data, data);
  return typeof text === 'string' ? text : data;
}

function parseOr(json: string, otherwise: unknown): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return otherwise;
  }
}

/** Where it was written last: with the end of it, or before. */
function noteOf({ returnvalue, stacktrace, failedReason, progress }: JobFields): string | undefined {
  const [settled, failed] = [parse(returnvalue), failedReason ? parse(stacktrace) : undefined];
  if (typeof settled === 'string') return settled;
  if (Array.isArray(failed) && typeof failed[0] === 'string') return failed[0];
  return typeof progress === 'string' ? progress : undefined;
}

function parse(json: string | undefined): unknown {
  return json === undefined || json === '' ? undefined : JSON.parse(json);
}
