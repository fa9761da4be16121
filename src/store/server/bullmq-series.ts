import type { IQueueBackend, JobJson, JobType, KeepJobs, MinimalJob } from 'bullmq';
import type { Entry, EntryState, NewEntry, Series, Settling, Taken } from './server.ts';

export interface BullmqSeriesOptions {
  /** BullMQ's own view of the series, with the lock's duration and the time between looks for lost locks as its options. */
  readonly open: (options: BackendOptions) => Promise<IQueueBackend>;
  /** Maps what fails. */
  readonly guard: <T>(act: () => Promise<T>) => Promise<T>;
}

export interface BackendOptions {
  readonly lockDuration: number;
  readonly stalledInterval: number;
  /** What it wrote last may be undone when the server crashes: a lease ends, or what was delivered is delivered again. */
  readonly isUndoable: boolean;
}

/** A series over BullMQ's backends, without its Queue and Worker: these poll, block and wait for a server that is gone. */
export class BullmqSeries implements Series {
  readonly #open: BullmqSeriesOptions['open'];
  readonly #guard: BullmqSeriesOptions['guard'];
  /** By their options: few leases are in use. */
  readonly #backends = new Map<string, Promise<IQueueBackend>>();

  constructor({ open, guard }: BullmqSeriesOptions) {
    this.#open = open;
    this.#guard = guard;
  }

  take(token: string, lockMs: number): Promise<Taken> {
    return this.#guard(async () => {
      // A tuple of BullMQ: the fields or nothing, the id, a rate limit's wait, when the next one is due.
      const [fields, id, , nextDueAt = 0] = (await (
        await this.#swift({ lockDuration: Math.ceil(lockMs) })
      ).moveToActive(token)) as [JobJson | null | undefined, string, number?, number?];
      return {
        entry: fields ? toEntry({ ...fields, id }) : undefined,
        nextDueAt: nextDueAt > 0 ? Math.floor(nextDueAt) : undefined,
      };
    });
  }

  extend(id: string, token: string, lockMs: number): Promise<boolean> {
    return this.#guard(
      async () => (await (await this.#swift()).extendLock(id, token, Math.ceil(lockMs))) === 1,
    );
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

  promote(id: string): Promise<boolean> {
    return this.#ifLocked(async () => (await this.#any()).promote(id));
  }

  requeue(id: string): Promise<boolean> {
    return this.#ifLocked(async () => (await this.#any()).retryFinishedJob(minimal(id), 'failed'));
  }

  remove(id: string): Promise<boolean> {
    return this.#guard(async () => {
      // Redis answers 1 for what is not there, too.
      if ((await (await this.#any()).getJobData(id)) === undefined) return false;
      return (await (await this.#any()).remove(id, false)) === 1;
    });
  }

  forget(state: 'completed' | 'failed', before: number): Promise<void> {
    return this.#guard(async () => {
      await (await this.#swift()).cleanJobsByState(state, Math.floor(before), FORGOTTEN_AT_ONCE);
    });
  }

  get(id: string): Promise<Entry | undefined> {
    return this.#guard(async () => {
      const fields = await (await this.#any()).getJobData(id);
      return fields && toEntry({ ...fields, id });
    });
  }

  stateOf(id: string): Promise<EntryState | undefined> {
    return this.#guard(async () => {
      const state = await (await this.#any()).getState(id);
      return STATES.find((known) => known === state);
    });
  }

  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]> {
    return this.#guard(async () =>
      (await (await this.#any()).getCounts(states.map(typeOf), delayedBefore)).map(Number),
    );
  }

  ids(state: EntryState, start: number, end: number): Promise<readonly string[]> {
    const isByTime = state !== 'waiting' && state !== 'active';
    return this.#guard(async () => {
      const [ids = []] = await (await this.#any()).getRanges([typeOf(state)], start, end, isByTime);
      return ids;
    });
  }

  /** False for what BullMQ refuses because of the entry's state or lock. */
  #ifLocked(act: () => Promise<unknown>): Promise<boolean> {
    return this.#guard(() => found(act));
  }

  /** For what nothing would do again. */
  #any(): Promise<IQueueBackend> {
    return this.#with({ isUndoable: false });
  }

  /** For what a lease guards, and what is done again and again. */
  #swift(options: Partial<BackendOptions> = {}): Promise<IQueueBackend> {
    return this.#with({ isUndoable: true, ...options });
  }

  #with({
    lockDuration = 30_000,
    stalledInterval = 30_000,
    isUndoable = false,
  }: Partial<BackendOptions>): Promise<IQueueBackend> {
    const key = `${lockDuration} ${stalledInterval} ${isUndoable}`;
    const known = this.#backends.get(key);
    if (known !== undefined) return known;
    const opened = this.#open({ lockDuration, stalledInterval, isUndoable });
    this.#backends.set(key, opened);
    // One that could not be opened would stay so.
    opened.catch(() => this.#backends.delete(key));
    return opened;
  }
}

const FORGOTTEN_AT_ONCE = 1_000;

const STATES: readonly EntryState[] = ['waiting', 'delayed', 'active', 'completed', 'failed'];

function typeOf(state: EntryState): JobType {
  return state === 'waiting' ? 'wait' : state;
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
    if (REFUSED.includes((error as { code?: unknown }).code)) return false;
    throw error;
  }
}

/** As BullMQ keeps it: what is to be sent along is JSON, with care for what PostgreSQL's does not hold. */
export function toJob({ id, name, text, addedAt, dueAt }: NewEntry): JobJson {
  const delay = dueAt === undefined ? 0 : Math.max(0, Math.ceil(dueAt - addedAt));
  return {
    id,
    name: legible(name),
    data: storable(text),
    opts: { delay, attempts: 1 },
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

/** Of a message that is invalid it is whatever came, which PostgreSQL's text need not hold. The text has it whole. */
function legible(name: string): string {
  return name.slice(0, LONGEST_NAME).replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd');
}

/** JSON as it is, unless it names a character that PostgreSQL's JSON cannot hold: then as a string of JSON. */
function storable(text: string): string {
  return /\\u0000|\\ud[89a-f]/i.test(text) ? JSON.stringify(text) : text;
}

function toEntry(fields: JobJson): Entry {
  const { id, data, timestamp, finishedOn, failedReason } = fields;
  const parsed: unknown = JSON.parse(data);
  return {
    id,
    text: typeof parsed === 'string' ? parsed : data,
    note: noteOf(fields),
    reason: failedReason || undefined, // absent over Redis, whatever the type says
    addedAt: timestamp,
    settledAt: finishedOn,
  };
}

/** Where it was written last: with the end of it, or before. */
function noteOf({ returnvalue, stacktrace, failedReason, progress }: JobJson): string | undefined {
  const [settled, failed] = [parse(returnvalue), failedReason ? parse(stacktrace) : undefined];
  if (typeof settled === 'string') return settled;
  if (Array.isArray(failed) && typeof failed[0] === 'string') return failed[0];
  return typeof progress === 'string' ? progress : undefined;
}

function parse(json: string | undefined): unknown {
  return json === undefined || json === '' ? undefined : JSON.parse(json);
}
