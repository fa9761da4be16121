import { legible } from '../bullmq-job.ts';
import { ENTRY_PREFIX, lineName, type InLines, type NewEntry, type SeriesEntry } from '../server.ts';
import { checksumOf } from '../../../queue/checksum.ts';
import {
  isUntried,
  NO_PROGRESS,
  type DeadReason,
  type Delivery,
  type DeliveryState,
  type Progress,
} from '../../../queue/delivery.ts';
import type { LaneId } from '../../../queue/queue.ts';

/** The immutable part of a delivery, as stored on the server. */
interface Text {
  readonly messageId: string;
  /** Type of the message. @default the name of the entry */
  readonly type?: string;
  /** Order keys of the delivery. @default none */
  readonly orderKeys?: readonly string[];
  readonly trace?: string | undefined;
  /** When the delivery was first due, in ms since the epoch. @default when the entry was added */
  readonly dueAt?: number;
  /** The body if it is UTF-8; otherwise `bodyBase64` is present. */
  readonly body?: string;
  readonly bodyBase64?: string;
  /** Checksum of the body, message id and order keys, by queue/checksum.ts. */
  readonly checksum: number;
  /** Why and when the delivery died. Present if it was dead on arrival. */
  readonly dead?: Pick<Delivery, 'reason' | 'detail' | 'settledAt'>;
  /** Attempts so far. Present if the delivery came from another queue that had tried it. */
  readonly progress?: Progress;
}

/** The mutable part of a delivery, stored as the note of its entry. */
interface Note {
  readonly progress: Progress;
  /**
   * How often the entry had been taken when this note was written. Each later take began a round that `progress` does not
   * include. @default all takes so far
   */
  readonly takes?: number;
  /** When the delivery is due, in ms since the epoch. Replaces the due time in the text of the entry. */
  readonly dueAt?: number;
}

export function entryId(id: string): string {
  return ENTRY_PREFIX + id;
}

export function deliveryId(id: string): string {
  return id.slice(ENTRY_PREFIX.length);
}

/** The entry id of a delivery, and a line for each of its order keys. */
export function inLines({
  id,
  source,
  destination,
  orderKeys,
}: Pick<Delivery, 'id' | 'source' | 'destination' | 'orderKeys'>): Required<InLines> {
  const keys = orderKeys.length > 1 ? [...new Set(orderKeys)] : orderKeys;
  return { id: entryId(id), lines: keys.map((key) => lineName(JSON.stringify([source, destination, key]))) };
}

export function toNewEntry(
  delivery: Delivery,
  { series, now }: { readonly series: string; readonly now: number },
): NewEntry {
  const { id, messageId, type, orderKeys, trace, createdAt, dueAt, progress } = delivery;
  const name = legible(type);
  const text: Text = {
    messageId,
    ...(name !== type && { type }),
    ...(orderKeys.length > 0 && { orderKeys }),
    trace,
    ...(dueAt !== createdAt && { dueAt }),
    ...bodyOf(delivery),
    checksum: checksumOf({ body: delivery.body, messageId, orderKeys: JSON.stringify(orderKeys) }),
    ...(delivery.state === 'dead' && { dead: deadFieldsOf(delivery) }),
    ...(!isUntried(progress) && { progress }),
  };
  return {
    series,
    ...(delivery.state === 'dead' ? { id: entryId(id) } : inLines(delivery)),
    name,
    text: JSON.stringify(text),
    addedAt: createdAt,
    dueAt: dueAt > now ? dueAt : undefined,
  };
}

function deadFieldsOf({ reason, detail, settledAt }: Delivery): NonNullable<Text['dead']> {
  return {
    ...(reason !== undefined && { reason }),
    ...(detail !== undefined && { detail }),
    ...(settledAt !== undefined && { settledAt }),
  };
}

function bodyOf({ body }: Delivery): Pick<Text, 'body'> | Pick<Text, 'bodyBase64'> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { body: text } : { bodyBase64: bytes.toString('base64') };
}

/** Reads a delivery that this process has just taken. The progress does not include the round that this take begins. */
export function takenToDelivery(entry: SeriesEntry, lane: LaneId): Delivery {
  const { source, destination } = lane;
  return toDelivery(readRecord(entry), { source, destination, state: 'sending', takes: entry.takes - 1 });
}

export function noteOf(note: Note): string {
  return JSON.stringify(note);
}

/** Reads a delivery from its entry. `isArrival`: the delivery was dead on arrival. */
export function entryToDelivery(
  entry: SeriesEntry,
  { source, destination, isArrival = false }: LaneId & { readonly isArrival?: boolean },
): Delivery {
  const record = readRecord(entry);
  return toDelivery(record, { source, destination, state: isArrival ? 'dead' : storedStateOf(record) });
}

/** An entry whose text and note are parsed. */
interface StoredRecord {
  readonly entry: SeriesEntry;
  readonly text: ReadText;
  readonly note: Note | undefined;
}

function readRecord(entry: SeriesEntry): StoredRecord {
  const note = entry.note === undefined ? undefined : (JSON.parse(entry.note) as Note); // written only by noteOf
  return { entry, text: readText(entry), note };
}

function toDelivery(
  { entry, text: { body: text, bodyBase64 = '', checksum, dead, progress, ...fixed }, note }: StoredRecord,
  {
    source,
    destination,
    state,
    takes = entry.takes,
  }: LaneId & { readonly state: DeliveryState; readonly takes?: number },
): Delivery {
  const isSettled = state === 'delivered' || state === 'dead';
  const body = text === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(text);
  return {
    id: deliveryId(entry.id),
    source,
    destination,
    ...fixed,
    body,
    dueAt: note?.dueAt ?? fixed.dueAt,
    state,
    progress: begun(note?.progress ?? progress ?? NO_PROGRESS, {
      rounds: isSettled ? 0 : takes - knownTakes(note, takes),
      at: entry.takenAt,
    }),
    ...(state === 'dead' && deathOf(entry, dead)),
    ...(isSettled && { settledAt: dead?.settledAt ?? entry.settledAt ?? fixed.createdAt }),
    ...((entry.reason === 'damaged' || dead?.reason === 'damaged' || !isWhole(checksum, body, fixed)) && {
      isDamaged: true,
    }),
  };
}

function deathOf(entry: SeriesEntry, dead: Text['dead']): Pick<Delivery, 'reason' | 'detail'> {
  return {
    reason: (entry.reason ?? dead?.reason ?? 'rejected') as DeadReason, // written only by settle
    ...(dead?.detail !== undefined && { detail: dead.detail }),
  };
}

function isWhole(
  checksum: number,
  body: Buffer,
  { messageId, orderKeys }: Pick<Delivery, 'messageId' | 'orderKeys'>,
): boolean {
  return checksum === checksumOf({ body, messageId, orderKeys: JSON.stringify(orderKeys) });
}

type ReadText = Text & Pick<Delivery, 'type' | 'orderKeys' | 'createdAt' | 'dueAt'>;

/** Parses the text of an entry. Unreadable text becomes a damaged delivery, which must not be sent. */
function readText({ name, text, addedAt }: SeriesEntry): ReadText {
  try {
    const read = JSON.parse(text) as Text; // written only by toNewEntry
    const { type = name, orderKeys = [], dueAt = addedAt } = read;
    return { ...read, type, orderKeys, createdAt: addedAt, dueAt };
  } catch {
    return { messageId: '', type: '', orderKeys: [], createdAt: addedAt, dueAt: addedAt, checksum: NaN };
  }
}

/**
 * Adds to a progress the rounds of claims that did not write a note. Of such claims, only what BullMQ stores is known:
 * how often and when the entry was taken.
 */
function begun(
  progress: Progress,
  { rounds, at }: { readonly rounds: number; readonly at: number | undefined },
): Progress {
  if (rounds <= 0) return progress;
  return {
    ...progress,
    rounds: progress.rounds + rounds,
    firstAttemptAt: progress.firstAttemptAt ?? at ?? 0,
  };
}

/** Returns how many takes of the entry have their rounds included in the progress that the note has. */
function knownTakes(note: Note | undefined, takes: number): number {
  return note === undefined ? 0 : (note.takes ?? takes);
}

/** The state of a delivery, from the state of its entry. An unsettled delivery was tried if it has takes or `rounds`. */
function storedStateOf({ entry, text, note }: StoredRecord): DeliveryState {
  const { state } = entry;
  if (state === 'active') return 'sending';
  if (state === 'completed') return 'delivered';
  if (state === 'failed') return 'dead';
  const { progress } = note ?? text;
  const wasTaken = entry.takes > knownTakes(note, entry.takes);
  return wasTaken || (progress?.rounds ?? 0) > 0 ? 'retrying' : 'pending';
}
