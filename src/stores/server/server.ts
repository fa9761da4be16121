import { createHash, randomUUID } from 'node:crypto';

/**
 * A Redis or PostgreSQL server that several processes on several hosts share. It stores entries in named series. Each
 * series is a queue of BullMQ, so that BullMQ's tools show it. Every method rejects with QueueError if the server fails
 * or does not respond in time, and with ClosedError after close(). No method waits for a lost server.
 */
export interface Server {
  /** The URL of the server without secrets, for error messages. */
  readonly place: string;
  /** The series of this name, which must not contain a colon. */
  series(name: string): Series;
  /** Adds entries to any series, all or none, and registers their series. Does not change entries that exist already. */
  add(entries: readonly NewEntry[]): Promise<void>;
  readonly facts: Facts;
  /** The names of all registered series. */
  registered(): Promise<readonly string[]>;
  /** Registers series, such as those that `findSeries` found. */
  register(series: readonly string[]): Promise<void>;
  /**
   * The names of all series with this prefix that contain entries, unordered. Scans everything on the server,
   * in steps.
   */
  findSeries(prefix: string): Promise<readonly string[]>;
  /**
   * Rejects if entries cannot be added, or, if `toAdd` is false, if they cannot be settled. Writes, because a
   * full server can still be read.
   */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /**
   * Calls `onAdded` with the name of a series soon after another process has added entries to the series. Some calls may be
   * missing, as while the connection is lost. Returns a function that ends the calls.
   */
  watch(onAdded: (series: string) => void): () => void;
  /** A sentence for each setting of the server that could lose or reject data. */
  warnings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * An entry with its lines. A line is a list of entries of one series that wait for each other, which BullMQ
 * does not have. An entry joins the ends of its lines in the step that adds or wakes it, and leaves them in
 * the step that settles or removes it. An entry that is not first in all of its lines is held: delayed until
 * `HELD_UNTIL`, or until its predecessor leaves.
 */
export interface InLines {
  /** Id of the entry; begins with ENTRY_PREFIX. */
  readonly id: string;
  /** Names of the lines that the entry is in, made by `lineName`. @default none */
  readonly lines?: readonly string[];
}

/** Prefix of entry ids, which share a namespace with keys of BullMQ. Lines store ids without it. */
export const ENTRY_PREFIX = 'd-';

/**
 * Time until which held entries are delayed, in ms since the epoch: far enough never to be reached, and recognizable as
 * the mark of a held entry.
 */
export const HELD_UNTIL = Date.UTC(2200, 0, 1);

export interface NewEntry extends InLines {
  readonly series: string;
  /** Name of the entry, which BullMQ's tools show in lists. */
  readonly name: string;
  /** The content of the entry: any text. It never changes, unlike the note of the entry. */
  readonly text: string;
  /** When the entry was added, in ms since the epoch. */
  readonly addedAt: number;
  /** The time before which the entry is not taken, in ms since the epoch. @default at once */
  readonly dueAt?: number | undefined;
}

export interface SeriesEntry {
  readonly id: string;
  readonly name: string;
  /** `waiting` includes delayed entries and entries whose lock has expired. */
  readonly state: Exclude<EntryState, 'delayed'>;
  readonly text: string;
  /** The changing part of the entry, written while it was active, when it was settled, or when it was made to wait again. */
  readonly note: string | undefined;
  /** Why the entry failed. */
  readonly reason: string | undefined;
  readonly addedAt: number;
  /** How often the entry was taken. */
  readonly takes: number;
  /** When the entry was taken last, in ms since the epoch. */
  readonly takenAt: number | undefined;
  /** When the entry was completed or failed, in ms since the epoch. */
  readonly settledAt: number | undefined;
}

/**
 *   add ─► waiting ─take─► active ─┬─ complete ─► completed
 *             ▲  ▲            │    ├─ fail ─────► failed ──wake─────┐
 *             │  └wake─ delayed ◄──┘ delay                          │
 *             └─────────────────────────────────────────────────────┘
 */
export type EntryState = 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';

export interface Taken {
  /** The taken entries with their tokens. Fewer entries than tokens if no more entries waited. */
  readonly taken: readonly TakenEntry[];
  /**
   * When the first delayed entry is due, in ms since the epoch. Undefined if none is delayed, or if all
   * tokens were used.
   */
  readonly nextDueAt: number | undefined;
}

export interface TakenEntry {
  readonly entry: SeriesEntry;
  readonly token: string;
}

export interface EntryLock extends InLines {
  readonly token: string;
}

export interface Series {
  /**
   * Takes up to `tokens.length` entries in queue order and locks each for `lockMs`. A delayed entry joins the
   * end of the queue when it falls due.
   */
  take(tokens: readonly string[], lockMs: number): Promise<Taken>;
  /** Delays taken entries that are not first in their lines, and writes their notes. Returns the ids of these entries. */
  hold(locks: readonly (EntryLock & Noted)[]): Promise<readonly string[]>;
  /**
   * Locks each entry for `lockMs` from now, and writes its note, if any. Returns the ids of entries whose
   * token no longer holds the lock.
   */
  extend(locks: readonly (EntryLock & Partial<Noted>)[], lockMs: number): Promise<readonly string[]>;
  /** Completes the entry, or fails it if a reason is given. False if the token no longer holds the lock. */
  settle(lock: EntryLock, settling: Noted & { readonly reason?: string }): Promise<boolean>;
  /** Delays the entry until `dueAt`. False if the token no longer holds the lock. */
  delay(lock: EntryLock, until: Noted & { readonly dueAt: number }): Promise<boolean>;
  /**
   * Makes entries with expired locks wait again. Called each `everyMs`; finds an expired lock at the second call after its
   * end at the latest.
   */
  recover(everyMs: number): Promise<void>;
  /**
   * Makes delayed or failed entries wait again, in the given order, behind all waiting entries. May delay an entry that is
   * not first in its lines. False for an entry that is not in this state.
   */
  wake(state: 'delayed' | 'failed', entries: readonly (InLines & Noted)[]): Promise<readonly boolean[]>;
  /**
   * Removes entries from the store and from their lines. False for an entry that was locked, or that did not exist; an entry
   * that did not exist is removed from its lines too.
   */
  remove(entries: readonly InLines[]): Promise<readonly boolean[]>;
  /**
   * Removes some of the entries that were completed or failed before this time. Returns whether more such entries may be
   * left.
   */
  forget(state: 'completed' | 'failed', before: number): Promise<boolean>;
  /** Reads entries; undefined for an entry that does not exist. */
  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  /** When each entry was added, in ms since the epoch; undefined for an entry that does not exist. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Counts entries by state. If `delayedBefore` is given, counts only delayed entries that are due before it. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  /**
   * A slice of the ids in a state: delayed entries by due time, completed and failed entries by settling
   * time, earliest first; waiting and active entries newest first. A negative `start` counts from the end,
   * and returns all ids from there.
   */
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
}

export interface Noted {
  readonly note: string;
}

/** A small key-value store on the server, separate from all series. */
export interface Facts {
  /** Writes facts, replacing earlier facts of the same names. A PostgreSQL that crashes may forget the last second. */
  put(facts: readonly Fact[]): Promise<void>;
  /** Reads the texts of facts; undefined for a fact that does not exist or has expired. */
  get(names: readonly string[]): Promise<readonly (string | undefined)[]>;
  remove(names: readonly string[]): Promise<void>;
}

export interface Fact {
  /** Name of the fact, of at most some hundred characters. */
  readonly name: string;
  readonly text: string;
  /** When the fact expires, in ms since the epoch. @default never */
  readonly expiresAt?: number | undefined;
}

const MARK_MS = 60_000;

/**
 * Whether both connections lead to the same store, whatever their URLs are: writes a mark to one and reads it
 * from the other.
 */
export async function isSameServer(one: Server, other: Server): Promise<boolean> {
  const name = `mark-${randomUUID()}`;
  await one.facts.put([{ name, text: '', expiresAt: Date.now() + MARK_MS }]);
  const [mark] = await other.facts.get([name]);
  return mark !== undefined;
}

/**
 * Names the line of a key by its hash: a key may be as long as a message, and a list of lines should not show
 * a user's id.
 */
export function lineName(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
