import { createHash, randomBytes, randomUUID } from 'node:crypto';

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
  /** Rejects when nothing can be stored. Writes, since a full server can still be read. */
  check(): Promise<void>;
  /** Settings that could lose or reject data, a sentence each. */
  warnings(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface NewEntry {
  readonly series: string;
  readonly id: string;
  /** The text that lists of BullMQ's tools show. */
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
  readonly text: string;
  /** Written while it was active, or when it was settled. */
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
  /** False: this token no longer holds the lock. The same for the next three. */
  extend(id: string, token: string, lockMs: number): Promise<boolean>;
  complete(id: string, token: string, settling: Settling): Promise<boolean>;
  fail(id: string, token: string, settling: Settling & { readonly reason: string }): Promise<boolean>;
  delay(id: string, token: string, dueAt: number): Promise<boolean>;
  /** Not guarded by a lock. Ignored when it is gone. */
  writeNote(id: string, note: string): Promise<void>;
  /** Lets entries wait again whose lock has run out: the second call after `everyMs` finds them. */
  recover(everyMs: number): Promise<void>;
  /** Those of them that are delayed wait from now on, in this order. */
  promoteAll(ids: readonly string[]): Promise<void>;
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
  /** When each was added. Ms since the epoch. Undefined: it is not there. */
  addedAt(ids: readonly string[]): Promise<readonly (number | undefined)[]>;
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
  /** How long the entries settled before it stay. @default forever */
  readonly keepMs?: number | undefined;
}

/** Ids that wait for one another, which BullMQ has nothing for: for each key its ids in the order of joining. */
export interface Lines {
  /** Puts each at the end of each of its lines; all or none. */
  join(ids: readonly InLine[]): Promise<void>;
  /** Removes each from its lines, wherever it stands in them. */
  leave(ids: readonly InLine[]): Promise<void>;
  /** The first id in each of them. */
  firsts(keys: readonly string[]): Promise<readonly (string | undefined)[]>;
  /** The ids that are missing in one of their lines. */
  lost(ids: readonly InLine[]): Promise<readonly string[]>;
}

export interface InLine {
  readonly id: string;
  readonly keys: readonly string[];
}

/** A series that no process takes from or lists: a mark that a killed process leaves there is never delivered. */
const MARKS = 'hooks-marks';

/** Whether both lead to one store, whatever their URLs say: by a mark that is left in one and looked for in the other. */
export async function isSameServer(one: Server, other: Server): Promise<boolean> {
  const id = randomUUID();
  await one.add([{ series: MARKS, id, name: 'mark', text: '{}', addedAt: Date.now() }]);
  try {
    return (await other.series(MARKS).get(id)) !== undefined;
  } finally {
    await one.series(MARKS).remove(id);
  }
}

/** Names the line of a key: a key may be as long as a message, and a list of lines should not show a user's id. */
export function lineName(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}

/** Longer than it takes to remove an entry. */
const FORGET_LOCK_MS = 30_000;

/** Removes at most `limit` due entries of a series whose due time is the end of their retention. */
export async function forgetDue(series: Series, limit: number): Promise<void> {
  const owner = randomBytes(9).toString('base64url');
  for (let count = 0; count < limit; count++) {
    const token = `${owner}-${count}`;
    const { entry } = await series.take(token, FORGET_LOCK_MS);
    if (entry === undefined) return;
    await series.complete(entry.id, token, { note: '', keepMs: 0 });
  }
}
