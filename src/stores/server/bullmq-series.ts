import type { IQueueBackend, KeepJobs, MinimalJob } from 'bullmq';
import { toEntry, type JobFields } from './bullmq-job.ts';
import type { EntryLock, SeriesEntry, EntryState, Series, Settling, Taken, Waking } from './server.ts';

export interface BullmqSeriesOptions {
  /** BullMQ's own view of the series, with the lock's duration and the time between looks for lost locks as its options. */
  readonly open: (options: BackendOptions) => Promise<IQueueBackend>;
  readonly lookup: EntryLookup;
  /** Maps what fails. */
  readonly guard: <T>(act: () => Promise<T>) => Promise<T>;
}

/** Reads and removes entries of one series by id, in a time that does not grow with the series. */
export interface EntryLookup {
  /** Undefined: it is not there. So for the next. */
  fields(ids: readonly string[]): Promise<readonly (JobFields | undefined)[]>;
  /** The same as a Series' `getToRemove` has it. */
  fieldsToRemove(ids: readonly string[]): Promise<readonly (JobFields | undefined)[]>;
  /** As a Series has it. `open` gives the backend that locks for as long as is asked for. */
  take(tokens: readonly string[], open: () => Promise<IQueueBackend>, lockMs: number): Promise<Taken>;
  /** As a Series has them, and the next. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
  /** False: it is not there, or it is locked. */
  remove(ids: readonly string[]): Promise<readonly boolean[]>;
  /** When each was added. Ms since the epoch. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  wake: Series['wake'];
}

export interface BackendOptions {
  readonly lockDuration: number;
  readonly stalledInterval: number;
}

/** A series over BullMQ's backends, without its Queue and Worker: these poll, block and wait for a server that is gone. */
export class BullmqSeries implements Series {
  readonly #open: BullmqSeriesOptions['open'];
  readonly #lookup: EntryLookup;
  readonly #guard: BullmqSeriesOptions['guard'];
  /** The backends by their options: few leases are in use. */
  readonly #backends = new Map<string, Promise<IQueueBackend>>();

  constructor({ open, lookup, guard }: BullmqSeriesOptions) {
    this.#open = open;
    this.#lookup = lookup;
    this.#guard = guard;
  }

  take(tokens: readonly string[], lockMs: number): Promise<Taken> {
    const open = (): Promise<IQueueBackend> => this.#swift({ lockDuration: Math.ceil(lockMs) });
    return this.#guard(() => this.#lookup.take(tokens, open, lockMs));
  }

  extend(locks: readonly EntryLock[], lockMs: number): Promise<readonly string[]> {
    const [ids, tokens] = [locks.map(({ id }) => id), locks.map(({ token }) => token)];
    return this.#guard(async () => (await this.#swift()).extendLocks(ids, tokens, Math.ceil(lockMs)));
  }

  complete(id: string, token: string, { note, keepMs }: Settling): Promise<boolean> {
    return this.#ifLocked(async () =>
      (await this.#swift()).moveToCompleted(minimal(id), note, keep(keepMs), token, false),
    );
  }

  fail(id: string, token: string, { note, keepMs, reason }: Settling & { reason: string }): Promise<boolean> {
    // The one field that both backends write together with the state.
    const fields = { stacktrace: JSON.stringify([note]) };
    return this.#ifLocked(async () =>
      (await this.#swift()).moveToFailed(minimal(id), reason, keep(keepMs), token, false, fields),
    );
  }

  delay(id: string, token: string, dueAt: number): Promise<boolean> {
    const now = Date.now();
    const inMs = Math.max(0, Math.ceil(dueAt - now));
    return this.#ifLocked(async () =>
      (await this.#swift()).moveToDelayed(id, now, inMs, token, { skipAttempt: true }),
    );
  }

  writeNote(id: string, note: string): Promise<void> {
    return this.#guard(async () => {
      await found(async () => (await this.#swift()).updateProgress(id, note));
    });
  }

  recover(everyMs: number): Promise<void> {
    return this.#guard(async () => {
      await (await this.#swift({ stalledInterval: Math.ceil(everyMs) })).moveStalledJobsToWait();
    });
  }

  wake(state: 'delayed' | 'failed', entries: readonly Waking[]): Promise<readonly boolean[]> {
    return this.#guard(() => this.#lookup.wake(state, entries));
  }

  remove(ids: readonly string[]): Promise<readonly boolean[]> {
    return this.#guard(() => this.#lookup.remove(ids));
  }

  forget(state: 'completed' | 'failed', before: number): Promise<void> {
    return this.#guard(async () => {
      await (await this.#swift()).cleanJobsByState(state, Math.floor(before), FORGOTTEN_AT_ONCE);
    });
  }

  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]> {
    return this.#guard(async () => (await this.#lookup.fields(ids)).map(asEntry));
  }

  getToRemove(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]> {
    return this.#guard(async () => (await this.#lookup.fieldsToRemove(ids)).map(asEntry));
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

  /** The backend for what a lease guards, and what is done again and again. */
  #swift({
    lockDuration = 30_000,
    stalledInterval = 30_000,
  }: Partial<BackendOptions> = {}): Promise<IQueueBackend> {
    const key = `${lockDuration} ${stalledInterval}`;
    const known = this.#backends.get(key);
    if (known !== undefined) return known;
    const opened = this.#open({ lockDuration, stalledInterval });
    this.#backends.set(key, opened);
    // One that could not be opened would stay so.
    opened.catch(() => this.#backends.delete(key));
    return opened;
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
