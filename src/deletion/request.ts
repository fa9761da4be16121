import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ValidationError } from '../errors.ts';
import { encodeBody } from '../message/body.ts';
import { buildMessage } from '../message/build.ts';
import { closest } from '../suggest.ts';
import { printable } from '../redact.ts';
import { recordOf, type DeletionRecord, type DeletionStore } from './state.ts';

/** Users to be forgotten: a `delete` message for each goes to every enabled destination of every affected source. */
export interface DeletionRequest {
  /** At least one, each once. */
  readonly userIds: readonly string[];
  /** @default all */
  readonly sources?: readonly string[];
}

export interface DeletionMessage {
  readonly messageId: string;
  readonly type: string;
  readonly body: Uint8Array;
  readonly orderKeys: readonly string[];
}

export interface Deletions {
  /** How many deliveries a request would become. @throws ValidationError for a source that is not configured. */
  size(request: DeletionRequest): number;
  /**
   * Records the request and queues its messages; resolves once both are stored.
   * @throws ValidationError for a source that is not configured; whatever `submit` rejects with.
   */
  create(request: DeletionRequest): Promise<DeletionRecord>;
  /** To be told of every delivery that has come to its end; those of no request are ignored. */
  settled(delivery: SettledDelivery): Promise<void>;
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
  /** Of all sources. */
  readonly sources: readonly string[];
  /** How many destinations of a source get a delete message. */
  readonly destinations: (source: string) => number;
  /** Queues messages of a source; resolves once they are stored. Tells the ids of their deliveries at once, in the same turn. */
  readonly submit: (
    source: string,
    messages: readonly DeletionMessage[],
    onRouted: (deliveryIds: readonly string[]) => void,
  ) => Promise<unknown>;
  readonly store: DeletionStore;
  readonly clock: Clock;
  /** Never the same twice. @default a UUID */
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

/** Of a delivery that has come to its end; one of no request is ignored. */
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
  refuseUnknown(affected, known);
  return affected.reduce((sum, source) => sum + userIds.length * destinations(source), 0);
}

/** In one turn of the event loop, so that the request and all its deliveries are stored together or not at all. */
async function create(
  { userIds, sources }: DeletionRequest,
  { sources: known, submit, store, clock, newId = randomUUID }: DeletionParts,
): Promise<DeletionRecord> {
  const affected = sources ?? known;
  refuseUnknown(affected, known);
  const request = { id: newId(), createdAt: Math.floor(clock.now()), userIds };
  const messages = userIds.map((userId, index) => deletionMessage(request, userId, index));
  const deliveryIds = new Map<string, readonly string[]>();
  const queueing = affected.map((source) =>
    submit(source, messages, (ids) => void deliveryIds.set(source, ids)),
  );
  await store.add({ ...request, deliveryIds }, Promise.all(queueing));
  return recordOf({ ...request, deliveryIds });
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

/** The request whose message it is: by its id, so that it is known after a restart too. */
function requestOf(messageId: string): string | undefined {
  return /^deletion-(.+)-\d+$/.exec(messageId)?.[1];
}

function refuseUnknown(sources: readonly string[], known: readonly string[]): void {
  const unknown = sources.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const near = closest(unknown, known);
  const names = known.map((name) => printable(name, 80)).join(', ');
  throw new ValidationError(`expected the name of a source, got \`${printable(unknown, 80)}\``, {
    path: 'sources',
    got: unknown,
    hint: near === undefined ? `known sources: ${names}` : `did you mean \`${printable(near, 80)}\`?`,
  });
}
