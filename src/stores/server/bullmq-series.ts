import type { IQueueBackend, KeepJobs, MinimalJob } from 'bullmq';
import { toEntry, type JobFields } from './bullmq-job.ts';
import type { EntryLock, SeriesEntry, EntryState, Series, Settling, Taken, Waking } from './server.ts';

export interface BullmqSeriesOptions {
  /** BullMQ's own view of the series. */
  readonly open: () => Promise<IQueueBackend>;
  readonly lookup: EntryLookup;
  /** Maps what fails. */
  readonly guard: <T>(act: () => Promise<T>) => Promise<T>;
}

/** Reads and removes entries of one series by id, in a time that does not grow with the series. */
export interface EntryLookup {
  /** Undefined: it is not there. So for the next. */
  fields(ids: readonly string[]): Promise<readonly (JobFields | undefined)[]>;
  /** The same as a Series' `getToChange` has it. */
  fieldsToChange(ids: readonly string[]): Promise<readonly (JobFields | undefined)[]>;
  take: Series['take'];
  extend: Series['extend'];
  recover: Series['recover'];
  writeNote: Series['writeNote'];
  /** As a Series has them, and the next. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
  /** False: it is not there, or it is locked. */
  remove(ids: readonly string[]): Promise<readonly boolean[]>;
  /** When each was added. Ms since the epoch. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  wake: Series['wake'];
}

/** A series over BullMQ's backends, without its Queue and Worker: these poll, block and wait for a server that is gone. */
export class BullmqSeries implements Series {
  readonly #open: BullmqSeriesOptions['open'];
  readonly #lookup: EntryLookup;
  readonly #guard: BullmqSeriesOptions['guard'];
  #opened: Promise<IQueueBackend> | undefined;

  constructor({ open, lookup, guard }: BullmqSeriesOptions) {
    this.#open = open;
    this.#lookup = lookup;
    this.#guard = guard;
  }

  take(tokens: readonly string[], lockMs: number): Promise<Taken> {
    return this.#guard(() => this.#lookup.take(tokens, lockMs));
  }

  extend(locks: readonly EntryLock[], lockMs: number): Promise<readonly string[]> {
    return this.#guard(() => this.#lookup.extend(locks, lockMs));
  }

  complete(id: string, token: string, { note, keepMs }: Settling): Promise<boolean> {
    return this.#ifLocked(async () =>
      (await this.#backend()).moveToCompleted(minimal(id), note, keep(keepMs), token, false),
    );
  }

  fail(id: string, token: string, { note, keepMs, reason }: Settling & { reason: string }): Promise<boolean> {
    // The one field that both backends write together with the state.
    const fields = { stacktrace: JSON.stringify([note]) };
    return this.#ifLocked(async () =>
      (await this.#backend()).moveToFailed(minimal(id), reason, keep(keepMs), token, false, fields),
    );
  }

  delay(id: string, token: string, dueAt: number): Promise<boolean> {
    const now = Date.now();
    const inMs = Math.max(0, Math.ceil(dueAt - now));
    return this.#ifLocked(async () =>
      (await this.#backend()).moveToDelayed(id, now, inMs, token, { skipAttempt: true }),
    );
  }

  writeNote(id: string, note: string): Promise<void> {
    return this.#guard(() => this.#lookup.writeNote(id, note));
  }

  recover(everyMs: number): Promise<void> {
    return this.#guard(() => this.#lookup.recover(everyMs));
  }

  wake(state: 'delayed' | 'failed', entries: readonly Waking[]): Promise<readonly boolean[]> {
    return this.#guard(() => this.#lookup.wake(state, entries));
  }

  remove(ids: readonly string[]): Promise<readonly boolean[]> {
    return this.#guard(() => this.#lookup.remove(ids));
  }

  forget(state: 'completed' | 'failed', before: number): Promise<void> {
    return this.#guard(async () => {
      await (await this.#backend()).cleanJobsByState(state, Math.floor(before), FORGOTTEN_AT_ONCE);
    });
  }

  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]> {
    return this.#guard(async () => (await this.#lookup.fields(ids)).map(asEntry));
  }

  getToChange(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]> {
    return this.#guard(async () => (await this.#lookup.fieldsToChange(ids)).map(asEntry));
  }

  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]> {
    return this.#guard(() => this.#lookup.addedAt(ids));
  }

  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]> {
    return this.#guard(() => this.#lookup.count(states, delayedBefore));
  }

  ids(state: EntryState, start: number, end: number): Promise<readonly string[]> {
    return this.#guard(() => this.#lookup.ids(state, start, end));
  }

  /** False for what BullMQ refuses because of the entry's state or lock. */
  #ifLocked(act: () => Promise<unknown>): Promise<boolean> {
    return this.#guard(() => found(act));
  }

  #backend(): Promise<IQueueBackend> {
    if (this.#opened !== undefined) return this.#opened;
    this.#opened = this.#open();
    // One that could not be opened would stay so.
    this.#opened.catch(() => (this.#opened = undefined));
    return this.#opened;
  }
}

const FORGOTTEN_AT_ONCE = 1_000;

function asEntry(fields: JobFields | undefined): SeriesEntry | undefined {
  return fields && toEntry(fields);
}

function keep(keepMs = Infinity): KeepJobs | boolean {
  if (keepMs === Infinity) return false;
  return keepMs === 0 ? true : { age: Math.ceil(keepMs / 1000) };
}

/** All that settling reads of it. */
function minimal(id: string): MinimalJob {
  return { id, opts: { attempts: 1 } } as MinimalJob; // the other fields are for processors
}

/** The codes of BullMQ: it is gone, its lock is gone, it is not in that state, the lock is another's. */
const REFUSED: readonly unknown[] = [-1, -2, -3, -6];

async function found(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    if (REFUSED.includes((error as { code?: unknown }).code)) return false; // BullMQ adds a code to its errors
    throw error;
  }
}
