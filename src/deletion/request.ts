import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { ValidationError } from '../errors.ts';
import { encodeBody, type OutgoingMessage } from '../message/outgoing-message.ts';
import { buildMessage } from '../message/build.ts';
import { nearHint } from '../suggest.ts';
import { printable } from '../redact.ts';
import { recordOf, type DeletionRecord, type DeletionStore } from './state.ts';

/** A request to delete users. For each user, a `delete` message goes to every enabled destination of the sources. */
export interface DeletionRequest {
  /** Ids of the users to delete: at least one, without duplicates. */
  readonly userIds: readonly string[];
  /** Names of the sources to delete the users from. @default all sources */
  readonly sources?: readonly string[];
}

export type DeletionMessage = Pick<OutgoingMessage, 'messageId' | 'type' | 'body' | 'orderKeys'>;

export interface Deletions {
  /**
   * Returns the number of deliveries that a request needs.
   * @throws ValidationError for a source that is not configured.
   */
  size(request: DeletionRequest): number;
  /**
   * Records the request and queues its messages. Resolves when both are stored. A large request is stored in parts, with
   * other work in between: if `create` rejects, or the process ends, earlier parts may be stored and are delivered.
   * @throws ValidationError for a source that is not configured, and the errors of `submit`.
   */
  create(request: DeletionRequest): Promise<DeletionRecord>;
  /** Records that a delivery was settled. Ignores deliveries that belong to no deletion request. */
  settled(delivery: SettledDelivery): Promise<void>;
  /** Finds a request by its id. Undefined if there is none. */
  get(id: string): Promise<DeletionRecord | undefined>;
}

export interface SettledDelivery {
  readonly id: string;
  readonly source: string;
  readonly messageId: string;
  readonly type: string;
  readonly state: string;
}

interface DeletionParts {
  /** The names of all sources. */
  readonly sources: readonly string[];
  /** Returns the number of destinations of a source that get delete messages. */
  readonly destinations: (source: string) => number;
  /**
   * Queues messages of a source. Resolves when they are stored. Calls `onRouted` with the ids of their deliveries, in the
   * turn of the event loop in which the deliveries are added.
   */
  readonly submit: (
    source: string,
    messages: readonly DeletionMessage[],
    onRouted: (deliveryIds: readonly string[]) => void,
  ) => Promise<unknown>;
  readonly store: DeletionStore;
  readonly clock: Clock;
  /** Makes a unique id for a request. @default a UUID */
  readonly newId?: () => string;
}

export function createDeletions(parts: DeletionParts): Deletions {
  const { store } = parts;
  return {
    size: (request) => size(request, parts),
    create: (request) => create(request, parts),
    settled: (delivery) => recordEnd(delivery, store),
    get: (id) => store.get(id),
  };
}

/** Records in a deletion request that one of its deliveries was settled. Ignores deliveries of no deletion request. */
export async function recordEnd(
  { id: deliveryId, source, messageId, type, state }: SettledDelivery,
  store: Pick<DeletionStore, 'settled'>,
): Promise<void> {
  const id = type === 'delete' ? requestOf(messageId) : undefined;
  if (id !== undefined) await store.settled(id, source, { deliveryId, isDelivered: state === 'delivered' });
}

function size(
  { userIds, sources }: DeletionRequest,
  { sources: known, destinations }: DeletionParts,
): number {
  const affected = sources ?? known;
  assertKnownSources(affected, known);
  return affected.reduce((sum, source) => sum + userIds.length * destinations(source), 0);
}

/**
 * Maximum number of deliveries to store in one turn of the event loop: storing 10,000 in a file blocked it for 250 ms, and
 * no other request was served meanwhile.
 */
const PART_DELIVERIES = 250;

async function create({ userIds, sources }: DeletionRequest, parts: DeletionParts): Promise<DeletionRecord> {
  const { sources: known, destinations, clock, newId = randomUUID } = parts;
  const affected = sources ?? known;
  assertKnownSources(affected, known);
  const request = { id: newId(), createdAt: Math.floor(clock.now()), userIds };
  const perUser = affected.reduce((sum, source) => sum + destinations(source), 0);
  const users = Math.max(Math.floor(PART_DELIVERIES / Math.max(perUser, 1)), 1);
  const of = Math.max(Math.ceil(userIds.length / users), 1);
  const all = new Map<string, string[]>(affected.map((source) => [source, []]));
  for (let index = 0; index < of; index++) {
    // Yields to other work between two parts, because with a queue in memory, storing a part does not wait for anything.
    if (index > 0) await nextTurn();
    const ids = await storePart(
      { request, affected, from: index * users, to: (index + 1) * users },
      { index, of },
      parts,
    );
    for (const [source, some] of ids) all.get(source)?.push(...some);
  }
  return recordOf({ ...request, deliveryIds: all });
}

interface DeletionPart {
  readonly request: Omit<DeletionRecord, 'sources'>;
  readonly affected: readonly string[];
  /**
   * The users whose messages this part queues, as a range of indexes in the user ids of the request: from `from` (included)
   * to `to` (excluded).
   */
  readonly from: number;
  readonly to: number;
}

/**
 * Stores a part of a request in one turn of the event loop, so that one transaction has the record and its deliveries.
 * Returns the ids of the deliveries by source.
 */
async function storePart(
  { request, affected, from, to }: DeletionPart,
  part: { readonly index: number; readonly of: number },
  { submit, store }: DeletionParts,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const users = request.userIds.slice(from, to);
  const messages = users.map((userId, index) => deletionMessage(request, userId, from + index));
  const deliveryIds = new Map<string, readonly string[]>();
  const queueing = affected.map((source) =>
    submit(source, messages, (ids) => void deliveryIds.set(source, ids)),
  );
  await store.add({ ...request, deliveryIds, part }, Promise.all(queueing));
  return deliveryIds;
}

function deletionMessage(
  { id, createdAt }: Pick<DeletionRecord, 'id' | 'createdAt'>,
  userId: string,
  index: number,
): DeletionMessage {
  const message = buildMessage({ type: 'delete', userId }, { now: createdAt });
  return {
    messageId: `deletion-${id}-${index}`,
    type: message.type,
    body: Buffer.from(encodeBody(message)),
    orderKeys: [],
  };
}

/**
 * Returns the id of the deletion request of a message. It is part of the message id, so that it is known even after a
 * restart.
 */
function requestOf(messageId: string): string | undefined {
  return /^deletion-(.+)-\d+$/.exec(messageId)?.[1];
}

function assertKnownSources(sources: readonly string[], known: readonly string[]): void {
  const unknown = sources.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const names = known.map((name) => printable(name, 80)).join(', ');
  throw new ValidationError(`Expected the name of a source, got \`${printable(unknown, 80)}\``, {
    path: 'sources',
    got: unknown,
    hint: nearHint(unknown, known, `known sources: ${names}`),
  });
}
