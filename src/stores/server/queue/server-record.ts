import { legible } from '../bullmq-job.ts';
import { ENTRY_PREFIX, lineName, type InLines, type NewEntry, type SeriesEntry } from '../server.ts';
import { checksumOf } from '../../../queue/checksum.ts';
import {
  isUntried,
  NO_PROGRESS,
  withRound,
  type DeadReason,
  type Delivery,
  type DeliveryState,
  type Progress,
} from '../../../queue/delivery.ts';
import { seriesName, type LaneSeriesId } from './server-lanes.ts';

/** The immutable part of a delivery: the text of its entry, as JSON. */
interface Text {
  readonly messageId: string;
  /** Type of the message. @default the name of the entry */
  readonly type?: string;
  /** @default none */
  readonly orderKeys?: readonly string[];
  readonly trace?: string | undefined;
  /** When the delivery was first due, in ms since the epoch. @default when the entry was added */
  readonly dueAt?: number;
  /** The body if it is UTF-8; otherwise `bodyBase64` is present. */
  readonly body?: string;
  readonly bodyBase64?: string;
  /** Checksum of the body, message id and order keys, by queue/checksum.ts. */
  readonly checksum: number;
  /** Present if the delivery was added as a dead letter. */
  readonly dead?: Pick<Delivery, 'reason' | 'detail' | 'settledAt'>;
  /** The progress when the delivery was added. Present if it was moved from another queue that had tried it. */
  readonly progress?: Progress;
}

/** The mutable part of a delivery: the note of its entry, as JSON. */
export interface Note {
  readonly progress: Progress;
  /**
   * How often the entry had been taken when this note was written. Each later take began a round that `progress` does not
   * include. @default all takes so far
   */
  readonly takes?: number;
  /** When the delivery is due, in ms since the epoch. Replaces the due time in the text of the entry. */
  readonly dueAt: number;
}

export function noteOf(note: Note): string {
  return JSON.stringify(note);
}

export function entryId(id: string): string {
  return ENTRY_PREFIX + id;
}

export function deliveryId(id: string): string {
  return id.slice(ENTRY_PREFIX.length);
}

/** The entry id of a delivery, and a line for each of its order keys. */
export function inLines({ id, source, destination, orderKeys }: Delivery): Required<InLines> {
  const keys = orderKeys.length > 1 ? [...new Set(orderKeys)] : orderKeys;
  return { id: entryId(id), lines: keys.map((key) => lineName(JSON.stringify([source, destination, key]))) };
}

export function toNewEntry(delivery: Delivery, now: number): NewEntry {
  const { id, source, destination, messageId, type, orderKeys, trace, createdAt, dueAt } = delivery;
  const { state, progress, reason, detail, settledAt } = delivery;
  const isArrival = state === 'dead';
  const name = legible(type);
  const text: Text = {
    messageId,
    ...(name !== type && { type }),
    ...(orderKeys.length > 0 && { orderKeys }),
    trace,
    ...(dueAt !== createdAt && { dueAt }),
    ...bodyOf(delivery),
    checksum: deliveryChecksum(delivery),
    ...(isArrival && { dead: { reason, detail, settledAt } }),
    ...(!isUntried(progress) && { progress }),
  };
  return {
    series: seriesName({ source, destination, isArrival }),
    ...(isArrival ? { id: entryId(id) } : inLines(delivery)),
    name,
    text: JSON.stringify(text),
    addedAt: createdAt,
    dueAt: dueAt > now ? dueAt : undefined,
  };
}

function bodyOf({ body }: Delivery): Pick<Text, 'body' | 'bodyBase64'> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const text = bytes.toString();
  return Buffer.from(text).equals(bytes) ? { body: text } : { bodyBase64: bytes.toString('base64') };
}

function deliveryChecksum({
  body,
  messageId,
  orderKeys,
}: Pick<Delivery, 'body' | 'messageId' | 'orderKeys'>): number {
  return checksumOf({ body, messageId, orderKeys: JSON.stringify(orderKeys) });
}

/** The state of a delivery by the state of its entry. The delivery of a waiting entry is `pending` or `retrying`. */
const STATES = {
  waiting: undefined,
  active: 'sending',
  completed: 'delivered',
  failed: 'dead',
} satisfies Record<SeriesEntry['state'], DeliveryState | undefined>;

/**
 * Reads a delivery from its entry. Each take of the entry began a round; `takes` is the number of takes whose rounds the
 * progress includes. A round that was interrupted before its note was written is counted, but its attempts are unknown.
 */
export function toDelivery(
  entry: SeriesEntry,
  { source, destination, isArrival = false }: LaneSeriesId,
  takes = entry.takes,
): Delivery {
  const { id, addedAt: createdAt, takenAt = 0, settledAt = createdAt } = entry;
  const { body: text, bodyBase64, checksum, dead, progress: added, ...fixed } = readText(entry);
  const body = text === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(text);
  const note = readNote(entry, { progress: added, dueAt: fixed.dueAt });
  const { progress: noted, takes: counted = takes, dueAt } = note;
  const state = isArrival ? 'dead' : STATES[entry.state];
  const isSettled = state === 'delivered' || state === 'dead';
  const progress = isSettled || takes <= counted ? noted : withRound(noted, takenAt, takes - counted);
  const reason = entry.reason ?? dead.reason;
  const isDamaged = reason === 'damaged' || checksum !== deliveryChecksum({ body, ...fixed });
  return {
    id: deliveryId(id),
    source,
    destination,
    ...fixed,
    body,
    createdAt,
    dueAt,
    state: state ?? (progress.rounds > 0 ? 'retrying' : 'pending'),
    progress,
    ...(state === 'dead' && {
      reason: (reason ?? 'rejected') as DeadReason, // written only by settle
      detail: dead.detail,
    }),
    ...(isSettled && { settledAt: dead.settledAt ?? settledAt }),
    ...(isDamaged && { isDamaged }),
  };
}

/** Parses the text of an entry. Unreadable text becomes a damaged delivery, which must not be sent. */
function readText({ name, text, addedAt }: SeriesEntry): Required<Omit<Text, 'body'>> & Pick<Text, 'body'> {
  const absent = { type: name, orderKeys: [], trace: undefined, dueAt: addedAt, bodyBase64: '' };
  const unread = { ...absent, messageId: '', checksum: NaN, dead: {}, progress: NO_PROGRESS };
  try {
    return { ...unread, ...(JSON.parse(text) as Text) }; // written only by toNewEntry
  } catch {
    return unread;
  }
}

function readNote({ note }: SeriesEntry, added: Note): Note {
  if (note === undefined) return { ...added, takes: 0 };
  return { ...added, ...(JSON.parse(note) as Note) }; // written only by noteOf
}
