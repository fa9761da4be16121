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
  readonly lines: Lines;
  readonly intents: Intents;
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

export interface NewEntry {
  readonly series: string;
  readonly id: string;
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

export interface EntryLock {
  readonly id: string;
  readonly token: string;
}

export interface Series {
  /** Takes as many entries as there are tokens: the first that wait, locked for `lockMs`. Those that were delayed come behind what waited when they fell due. */
  take(tokens: readonly string[], lockMs: number): Promise<Taken>;
  /** Locks each for `lockMs` from now. Returns the ids of those whose token no longer holds the lock. */
  extend(locks: readonly EntryLock[], lockMs: number): Promise<readonly string[]>;
  /** False: this token no longer holds the lock. The same for the next two. */
  complete(id: string, token: string, settling: Settling): Promise<boolean>;
  fail(id: string, token: string, settling: Settling & { readonly reason: string }): Promise<boolean>;
  delay(id: string, token: string, dueAt: number): Promise<boolean>;
  /** Not guarded by a lock. Ignored when it is gone. */
  writeNote(id: string, note: string): Promise<void>;
  /** Lets entries wait again whose lock has run out: the second call after `everyMs` finds them, at the latest. */
  recover(everyMs: number): Promise<void>;
  /** Makes entries wait from now on, in this order and behind the others. False: it is not in that state. */
  wake(state: 'delayed' | 'failed', entries: readonly Waking[]): Promise<readonly boolean[]>;
  /** False: it is not there, or it is locked. */
  remove(ids: readonly string[]): Promise<readonly boolean[]>;
  /** Removes some that were completed or failed before. Returns whether more may be left. */
  forget(state: 'completed' | 'failed', before: number): Promise<boolean>;
  /** Undefined: it is not there. */
  get(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  /** As `get`, for entries that are changed next: in fewer commands, which a user who may only read must not run. */
  getToChange(ids: readonly string[]): Promise<readonly (SeriesEntry | undefined)[]>;
  /** When each was added. Ms since the epoch. Undefined: it is not there. The same user must not run it. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Counts entries by state; of delayed ones only those due before `delayedBefore`, when that is given. */
  count(states: readonly EntryState[], delayedBefore?: number): Promise<readonly number[]>;
  /**
   * A slice of those in a state: delayed ones by when they are due, completed and failed ones by when they were settled,
   * earliest first; waiting and active ones newest first. A negative start counts from the end, and takes all behind it.
   */
  ids(state: EntryState, start: number, end: number): Promise<readonly string[]>;
}

export interface Waking {
  readonly id: string;
  /** @default the note that it has */
  readonly note?: string | undefined;
}

export interface Settling {
  readonly note: string;
  /** How long the entries settled before it stay. @default forever */
  readonly keepMs?: number | undefined;
}

/**
 * Ids that wait for one another, which BullMQ has nothing for: for each key its ids in the order of joining. An entry is gone when it
 * is not there, or settled; whether it is, is looked up in the same step in which its id joins or leaves.
 */
export interface Lines {
  /**
   * Puts each at the end of those of its lines that it does not stand in; all or none. `areAdded`: unless its entry is gone. Returns the
   * ids that stand behind another one then.
   */
  join(ids: readonly InLine[], options?: { readonly areAdded?: boolean }): Promise<readonly string[]>;
  /** Removes those whose entry is gone from their lines. Returns the ids that are first in those lines then, each once. */
  leave(ids: readonly InLine[]): Promise<readonly string[]>;
  /** The first id in each of them. */
  firsts(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
}

export interface InLine {
  readonly id: string;
  readonly keys: readonly string[];
  readonly entry: Pick<NewEntry, 'series' | 'id'>;
}

/** Operations that a process begins, and others finish when it is killed in between. */
export interface Intents {
  /** Puts an intent in place of one with the same id; `whenFull`: a server that is full takes it too. */
  put(intent: Intent, options?: { readonly whenFull?: boolean }): Promise<void>;
  remove(id: string): Promise<void>;
  /** Takes at most `limit` of the intents that are due at `now`; they are due again at `againAt`. */
  take(taking: {
    readonly now: number;
    readonly againAt: number;
    readonly limit: number;
  }): Promise<readonly Intent[]>;
}

export interface Intent {
  readonly id: string;
  readonly text: string;
  /** Ms since the epoch. */
  readonly dueAt: number;
}

/** Short texts by name, which no list shows and nothing takes. */
export interface Facts {
  /** Puts facts in place of what the names had before. A PostgreSQL that crashes may forget the last second. */
  put(facts: readonly Fact[]): Promise<void>;
  /** Undefined: it is not there, or has expired. */
  get(names: readonly string[]): Promise<readonly (string | undefined)[]>;
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
