import { createHash, randomUUID } from 'node:crypto';

/**
 * A Redis or PostgreSQL server that several processes on several hosts share. What is on it are entries in named series,
 * each a queue of BullMQ, so that its tools show them. Everything rejects with QueueError when the server fails or does not
 * respond in time, with ClosedError after close(). Nothing here waits for a server that is gone.
 */
export interface Server {
  /** Its URL as it may be shown. */
  readonly place: string;
  /** The entries of one name. A name holds no colon. */
  series(name: string): Series;
  /** Adds entries to any series, all or none, and registers their series. An id that is there already is left as it is. */
  add(entries: readonly NewEntry[]): Promise<void>;
  readonly facts: Facts;
  /** The names of all series that were added to. A server that lost some has them again with the next entry. */
  registered(): Promise<readonly string[]>;
  /** Registers series that hold something, as `findSeries` finds them. */
  register(series: readonly string[]): Promise<void>;
  /** The names of all series that begin so and hold anything, in no order. It looks through everything on the server, in steps. */
  findSeries(prefix: string): Promise<readonly string[]>;
  /** Rejects when nothing can be stored; without `toAdd`, when nothing can be settled. Writes, since a server that takes nothing can still be read. */
  check(options?: { readonly toAdd?: boolean }): Promise<void>;
  /** Settings that could lose or reject data, a sentence each. */
  warnings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

/**
 * Lines, which BullMQ has nothing for: entries of one series that wait for one another. In the step in which it is added or woken an entry joins its
 * lines at their ends, in the step in which it is settled or removed it leaves them. One that is not first in all of them is held:
 * delayed until `HELD_UNTIL`, or until the one before it leaves.
 */
export interface InLines {
  /** Its id begins with ENTRY_PREFIX. */
  readonly id: string;
  /** Each named by `lineName`. @default none */
  readonly lines?: readonly string[];
}

/** Ids lie among the server's own words. Lines hold them without this. */
export const ENTRY_PREFIX = 'd-';

export const HELD_UNTIL = Date.UTC(2200, 0, 1);

export interface NewEntry extends InLines {
  readonly series: string;
  /** The text that lists of BullMQ's tools show, as far as it is legible. */
  readonly name: string;
  /** Any text. It never changes. */
  readonly text: string;
  /** Ms since the epoch. */
  readonly addedAt: number;
  /** The time before which it is not taken. @default at once */
  readonly dueAt?: number | undefined;
}

export interface SeriesEntry {
  readonly id: string;
  readonly name: string;
  /** One that is delayed waits. One whose lock has run out waits, too. */
  readonly state: Exclude<EntryState, 'delayed'>;
  readonly text: string;
  /** Written while it was active, or when it was settled. */
  readonly note: string | undefined;
  /** Why it failed. */
  readonly reason: string | undefined;
  readonly addedAt: number;
  /** How often it was taken. */
  readonly takes: number;
  /** When it was taken last. Ms since the epoch. */
  readonly takenAt: number | undefined;
  /** When it was completed or failed. Ms since the epoch. */
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
  /** Each with its token. Fewer than tokens: no more waited. */
  readonly taken: readonly TakenEntry[];
  /** When the first delayed one is due. Ms since the epoch. Undefined: none is, or as many were taken as were asked for. */
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
  /** Takes as many entries as there are tokens: the first that wait, locked for `lockMs`. Those that were delayed come behind what waited when they fell due. */
  take(tokens: readonly string[], lockMs: number): Promise<Taken>;
  /** Holds those that are not first in their lines, as if they had not been taken. Returns their ids. */
  hold(locks: readonly EntryLock[]): Promise<readonly string[]>;
  /** Locks each for `lockMs` from now, and writes the note that it has. Returns the ids of those whose token no longer holds the lock. */
  extend(locks: readonly (EntryLock & Partial<Noted>)[], lockMs: number): Promise<readonly string[]>;
  /** Completes the entry, or has it fail for the reason. False: this token no longer holds the lock. The same for the next one. */
  settle(lock: EntryLock, settling: Noted & { readonly reason?: string }): Promise<boolean>;
  delay(lock: EntryLock, until: Noted & { readonly dueAt: number }): Promise<boolean>;
  /** Lets entries wait again whose lock has run out: the second call after `everyMs` finds them, at the latest. */
  recover(everyMs: number): Promise<void>;
  /** Makes entries wait from now on, in this order and behind the others. False: it is not in that state. */
  wake(state: 'delayed' | 'failed', entries: readonly (InLines & Noted)[]): Promise<readonly boolean[]>;
  /** False: it is not there (and leaves its lines still), or it is locked. */
  remove(entries: readonly InLines[]): Promise<readonly boolean[]>;
  /** Removes some that were completed or failed before. Returns whether more may be left. */
  forget(state: 'completed' | 'failed', before: number): Promise<boolean>;
  /** Undefined: it is not there. */
  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  /** When each was added. Ms since the epoch. Undefined: it is not there. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Counts entries by state; of delayed ones only those due before `delayedBefore`, when that is given. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  /**
   * A slice of those in a state: delayed ones by when they are due, completed and failed ones by when they were settled,
   * earliest first; waiting and active ones newest first. A negative start counts from the end, and takes all behind it.
   */
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
}

export interface Noted {
  readonly note: string;
}

/** Short texts by name, which no list shows and nothing takes. */
export interface Facts {
  /** Puts facts in place of what the names had before. A PostgreSQL that crashes may forget the last second. */
  put(facts: readonly Fact[]): Promise<void>;
  /** Undefined: it is not there, or has expired. */
  get(names: readonly string[]): Promise<readonly (string | undefined)[]>;
  remove(names: readonly string[]): Promise<void>;
}

export interface Fact {
  /** At most some hundred characters. */
  readonly name: string;
  readonly text: string;
  /** Ms since the epoch. @default never */
  readonly expiresAt?: number | undefined;
}

const MARK_MS = 60_000;

/** Whether both lead to one store, whatever their URLs say: by a mark that is left in one and looked for in the other. */
export async function isSameServer(one: Server, other: Server): Promise<boolean> {
  const name = `mark-${randomUUID()}`;
  await one.facts.put([{ name, text: '', expiresAt: Date.now() + MARK_MS }]);
  const [mark] = await other.facts.get([name]);
  return mark !== undefined;
}

/** Names the line of a key: a key may be as long as a message, and a list of lines should not show a user's id. */
export function lineName(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
