import { createHash, randomUUID } from 'node:crypto';

/**
 * A Redis or PostgreSQL server that processes share. Stores entries in named series: queues of BullMQ, which BullMQ's tools
 * show. Methods reject with QueueError if the server fails or cannot be reached in time, and with ClosedError after close().
 */
export interface Server {
  /** The URL of the server without secrets, for error messages. */
  readonly place: string;
  /** Returns a series. Its name must not contain a colon. */
  series(name: string): Series;
  /** Adds entries to any series, all or none, and registers their series. Skips entries that exist already. */
  add(entries: readonly NewEntry[]): Promise<void>;
  readonly facts: Facts;
  /** The names of all registered series. */
  registered(): Promise<readonly string[]>;
  register(series: readonly string[]): Promise<void>;
  /** The names of all series with this prefix that contain entries, in any order. Scans the whole server in steps. */
  findSeries(prefix: string): Promise<readonly string[]>;
  /** Rejects if entries cannot be added or, with `toAdd: false`, settled. Writes, because reading works on a full server. */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /** Calls `onAdded` soon after another process adds to a series; can miss some. Returns a function that ends the calls. */
  watch(onAdded: (series: string) => void): () => void;
  /** Warnings about settings of the server that could lose or reject data: one sentence each. */
  warnings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * An entry with its lines. A line is a list of entries of one series, of which only the first can be taken. BullMQ has no
 * lines. An entry joins the ends of its lines in the step that adds or wakes it, and leaves them in the step that settles or
 * removes it. An entry that is not first in its lines is held: delayed until `HELD_UNTIL`, or until its predecessor leaves.
 */
export interface InLines {
  /** Id of the entry; begins with ENTRY_PREFIX. */
  readonly id: string;
  /** Names of the lines that the entry is in, made by `lineName`. @default none */
  readonly lines?: readonly string[];
}

/** Prefix of entry ids, which share a namespace with keys of BullMQ. Lines store ids without it. */
export const ENTRY_PREFIX = 'd-';

/** Time until which held entries are delayed, in ms since the epoch. It is never reached, and marks an entry as held. */
export const HELD_UNTIL = Date.UTC(2200, 0, 1);

export interface NewEntry extends InLines {
  readonly series: string;
  /** Name of the entry, which BullMQ's tools show in lists. */
  readonly name: string;
  /** The content of the entry, which never changes: any text. */
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
  /** Text that was written last while the entry was active, when it was settled, or when it was made to wait again. */
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
  /** The taken entries: one per token, or fewer if no more entries waited. */
  readonly taken: readonly TakenEntry[];
  /** When the first delayed entry is due, in ms since the epoch. Undefined if no entry is delayed, or each token got one. */
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
  /** Takes an entry per token in queue order and locks it for `lockMs`. An entry that was delayed queues when it is due. */
  take(tokens: readonly string[], lockMs: number): Promise<Taken>;
  /** Delays taken entries that are not first in their lines, and writes their notes. Returns the ids of these entries. */
  hold(locks: readonly (EntryLock & Noted)[]): Promise<readonly string[]>;
  /** Extends locks to `lockMs` from now and writes notes. Returns the ids of entries whose token does not hold the lock. */
  extend(locks: readonly (EntryLock & Partial<Noted>)[], lockMs: number): Promise<readonly string[]>;
  /** Completes the entry, or fails it if a reason is given. False if the token no longer holds the lock. */
  settle(lock: EntryLock, settling: Noted & { readonly reason?: string }): Promise<boolean>;
  /** Delays the entry until `dueAt`. False if the token no longer holds the lock. */
  delay(lock: EntryLock, until: Noted & { readonly dueAt: number }): Promise<boolean>;
  /** Makes entries with expired locks wait again. Called each `everyMs`: the second call after a lock ended finds it. */
  recover(everyMs: number): Promise<void>;
  /** Makes entries wait again, in order, behind all waiting ones. False for an entry that is not in this state. */
  wake(state: 'delayed' | 'failed', entries: readonly (InLines & Noted)[]): Promise<readonly boolean[]>;
  /**
   * Removes entries from the server and from their lines. False for an entry that is locked, and for an entry that does not
   * exist, whose id is still removed from its lines.
   */
  remove(entries: readonly InLines[]): Promise<readonly boolean[]>;
  /** Removes some of the entries that were completed or failed before this time. Returns whether more may be left. */
  forget(state: 'completed' | 'failed', before: number): Promise<boolean>;
  /** Reads entries; undefined for an entry that does not exist. */
  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  /** When each entry was added, in ms since the epoch; undefined for an entry that does not exist. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Counts entries by state. If `delayedBefore` is given, skips delayed entries that are due at that time or later. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  /**
   * The entry ids from index `start` to `end` (-1: the last). Sorts waiting and active entries newest first, but delayed
   * ones by due time and settled ones by settling time. A negative `start` counts from the end, and requires an `end` of -1.
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

/** Whether two connections lead to the same server. Writes a mark to one and reads it from the other. */
export async function isSameServer(one: Server, other: Server): Promise<boolean> {
  const name = `mark-${randomUUID()}`;
  await one.facts.put([{ name, text: '', expiresAt: Date.now() + MARK_MS }]);
  const [mark] = await other.facts.get([name]);
  return mark !== undefined;
}

/** Names the line of an order key by its hash, because a key can be as long as a message, and can be a user's id. */
export function lineName(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

/** Names a fact by a hash of its subject with `length` characters of 6 bits each. */
export function factName(kind: string, subject: readonly string[], length = 43): string {
  return `${kind}:${lineName(JSON.stringify(subject)).slice(0, length)}`;
}
