/**
 * A Redis or PostgreSQL server that several processes on several hosts share. What is on it are entries in named series,
 * each a queue of BullMQ, so that its tools show them. Everything rejects with QueueError when the server fails or does not
 * answer in time, with ClosedError after close(). Nothing here waits for a server that is gone.
 */
export interface Server {
  /** Its URL as it may be shown. */
  readonly place: string;
  /** The entries of one name. A name holds no colon. */
  series(name: string): Series;
  /** Adds entries to any series, all or none. An id that is there already is left as it is. */
  add(entries: readonly NewEntry[]): Promise<void>;
  readonly lines: Lines;
  /** The names of all series that begin so and hold anything, in no order. It looks through everything on the server, in steps. */
  seriesNames(prefix: string): Promise<readonly string[]>;
  /** Rejects when nothing could be stored: a true write. */
  check(): Promise<void>;
  /** What of its settings could lose or refuse what is on it, a sentence each. */
  warnings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface NewEntry {
  readonly series: string;
  readonly id: string;
  /** What a person sees of it in a list. */
  readonly name: string;
  /** Any text. It never changes. */
  readonly text: string;
  /** Ms since the epoch. */
  readonly addedAt: number;
  /** It is not to be taken before. @default at once */
  readonly dueAt?: number | undefined;
}

export interface SeriesEntry {
  readonly id: string;
  readonly text: string;
  /** Written while it was under way, or when it was settled. */
  readonly note: string | undefined;
  /** Why it failed. */
  readonly reason: string | undefined;
  readonly addedAt: number;
  /** When it was completed or failed. Ms since the epoch. */
  readonly settledAt: number | undefined;
}

/**
 *   add ─► waiting ─take─► active ─┬─ complete ─► completed
 *             ▲  ▲            │    ├─ fail ─────► failed ──requeue──┐
 *             │  └─ delayed ◄─┴────┘ delay                          │
 *             └─────────────────────────────────────────────────────┘
 */
export type EntryState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';

export interface Taken {
  readonly entry: SeriesEntry | undefined;
  /** Without an entry: when the first delayed one is due. Ms since the epoch. */
  readonly nextDueAt: number | undefined;
}

export interface Series {
  /** The first that waits, locked for `lockMs`. Those that were delayed come behind what waited when they fell due. */
  take(token: string, lockMs: number): Promise<Taken>;
  /** False: the lock is not ours any more. So for the four below. */
  extend(id: string, token: string, lockMs: number): Promise<boolean>;
  complete(id: string, token: string, settling: Settling): Promise<boolean>;
  fail(id: string, token: string, settling: Settling & { readonly reason: string }): Promise<boolean>;
  delay(id: string, token: string, dueAt: number): Promise<boolean>;
  /** Not guarded by a lock. Ignored when it is gone. */
  writeNote(id: string, note: string): Promise<void>;
  /** Those whose lock has run out wait again, seen by the second call after `everyMs`. */
  recover(everyMs: number): Promise<void>;
  /** A delayed one waits from now on. False: it is not delayed. */
  promote(id: string): Promise<boolean>;
  /** A failed one waits again, behind the others. False: it is not failed. */
  requeue(id: string): Promise<boolean>;
  /** False: it is not there, or it is locked. */
  remove(id: string): Promise<boolean>;
  /** As `remove`, for each of them. */
  removeAll(ids: readonly string[]): Promise<readonly boolean[]>;
  /** Removes some that were completed or failed before. */
  forget(state: 'completed' | 'failed', before: number): Promise<void>;
  get(id: string): Promise<SeriesEntry | undefined>;
  /** As `get`, for each of them. */
  getAll(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  stateOf(id: string): Promise<EntryState | undefined>;
  /** As `stateOf`, for each of them. */
  statesOf(ids: readonly string[]): Promise<readonly (EntryState | undefined)[]>;
  /** Of delayed ones only those due before `delayedBefore`, when that is given. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  /**
   * A slice of those in a state: delayed ones by when they are due, completed and failed ones by when they were settled,
   * earliest first; waiting and active ones newest first.
   */
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
}

export interface Settling {
  readonly note: string;
  /** For how long those settled before it stay. @default for ever */
  readonly keepMs?: number | undefined;
}

/** Ids that wait for one another, which BullMQ has nothing for: for each key its ids in the order of joining. */
export interface Lines {
  /** Each at the end of each of its lines; all or none. */
  join(ids: readonly InLine[]): Promise<void>;
  /** Each out of its lines, wherever it stands in them. */
  leave(ids: readonly InLine[]): Promise<void>;
  /** Whoever is first in each of them. */
  firsts(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** Whoever is missing in one of its lines. */
  lost(ids: readonly InLine[]): Promise<readonly string[]>;
}

export interface InLine {
  readonly id: string;
  readonly keys: readonly string[];
}
