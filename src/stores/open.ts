import { join } from 'node:path';
import type { AudienceCatalog, ChunkStore } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import type { DeletionStore, RecordedDelivery } from '../deletion/state.ts';
import { QueueError } from '../errors.ts';
import type { DeliveryState } from '../queue/delivery.ts';
import type { QueueInspection } from '../queue/inspection.ts';
import { monitored, type DurableQueue, type DurableQueueOptions } from './opened-queue.ts';

// `loadFiles` and `loadServers` load a backend only when it is needed, because only users with a server install its
// packages.
export { MemoryQueue } from './memory/memory-queue.ts';
const loadFiles = () => import('./sqlite/open-queue-file.ts');
const loadServers = () => import('./server/open-server-queue.ts');

/**
 * Opens the queue in a file or on a server. Throws ConfigError for an unknown kind of store, QueueError if opening fails.
 */
export function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const place = options.store ?? join(options.dataDir, FILE);
  return isServer(place) ? openOnServer(place, options) : openInFile(place, options);
}

/** Returns why this Node cannot open a queue in a file. Undefined if it can. */
export async function queueFileProblem(): Promise<QueueError | undefined> {
  return (await loadFiles()).engineProblem();
}

/** Name of the queue's file in the data folder, if no store is configured. */
const FILE = 'hooks.db';

/** Whether `place` is the URL of a server, and not a file. Loads no packages. */
export function isServer(place: string): boolean {
  return /^(?:rediss?|postgres(?:ql)?):/i.test(place);
}

async function openOnServer(
  url: string,
  { clock, retention, dataDir }: DurableQueueOptions,
): Promise<DurableQueue> {
  const { openServerQueue } = await loadServers();
  const { server, ...opened } = await openServerQueue(url, { clock, retention });
  const { queue, inspection, loss } = opened;
  let audiences: ReturnType<typeof openAudienceStore> | undefined;
  return {
    ...opened,
    place: server.place,
    file: undefined,
    clock,
    deletions: caughtUp(opened.deletions, inspection),
    acceptedLately: async function* () {
      const { acceptedLately } = await import('./accepted-messages.ts'); // only for an export or a move
      yield* acceptedLately(inspection, clock);
    },
    lanes: () => inspection.stats(),
    oldestAt: () => inspection.oldestAt(),
    check: (options) => server.check(options),
    warnings: async () => [...(loss === undefined ? [] : [loss]), ...(await server.warnings())],
    audiences: () => (audiences ??= openAudienceStore(join(dataDir, FILE), clock)),
    isSameStore: (other) => queue.isOnServerOf(other.queue),
    close: async () => {
      await queue.close();
      await server.close();
      await (await audiences)?.close();
    },
  };
}

async function openInFile(place: string, options: DurableQueueOptions): Promise<DurableQueue> {
  if (place.endsWith('.part')) {
    const hint = 'run `hooks queue recover` again; the damaged file is unchanged';
    throw new QueueError(`The queue ${place} is not complete: a recovery was interrupted`, { hint });
  }
  const { openQueueFile } = await loadFiles();
  const { store, isSameFile, ...opened } = await openQueueFile(place, options);
  const { queue, inspection, seen, loss } = opened;
  return {
    ...opened,
    place: store.file,
    clock: options.clock,
    acceptedLately: () => seen.list(),
    deletions: caughtUp(opened.deletions, inspection),
    ...monitored(inspection),
    check: async (forWhat) => {
      await store.check(forWhat);
      // Also reads from the file, because damaged pages can be unreadable even if writes succeed.
      await queue.lanes();
    },
    warnings: async () => (loss === undefined ? [] : [loss]),
    isSameStore: async (other) => other.file !== undefined && isSameFile(other.place),
    close: async () => {
      await queue.close();
      await store.close();
    },
  };
}

/** Opens the audiences in a file. Throws ConfigError for a store that is not a file, QueueError if the file fails. */
export async function openAudienceStore(
  place: string,
  clock: Clock,
): Promise<AudienceCatalog & { close(): Promise<void> }> {
  return (await loadFiles()).openAudiences(place, clock);
}

/** Opens temporary storage for large data. Its file has no name, and disappears when the process ends. */
export async function openChunkStore(): Promise<ChunkStore> {
  return (await loadFiles()).openChunks();
}

type Files = Awaited<ReturnType<typeof loadFiles>>;

/** The result of examining the file of a queue. The examination creates and changes nothing. */
export type QueueExamination = Awaited<ReturnType<Files['examineFile']>>;

/**
 * Examines a file; `place` is a path or `sqlite:PATH`. Throws ConfigError for a store that is not a file, QueueError for a
 * file that cannot be found or opened.
 */
export async function examineQueue(place: string, clock: Clock): Promise<QueueExamination> {
  return (await loadFiles()).examineFile(place, clock);
}

type FindNewest = Files['findNewest'];

/**
 * Finds the newest deliveries in a file by the beginning of their ids, without changing anything. Does not ask a server,
 * which would take too long. Throws ConfigError for an unknown kind of store, QueueError if the file cannot be read.
 */
export async function findNewestDeliveries(
  place: string,
  selection: Parameters<FindNewest>[1],
): ReturnType<FindNewest> {
  return isServer(place) ? [] : (await loadFiles()).findNewest(place, selection);
}

export type Recovery = Awaited<ReturnType<Files['recoverFile']>>;

/**
 * Copies the readable part of a queue's file to the new file `to`, and leaves the original unchanged. Throws ConfigError if
 * `to` exists, QueueError if nothing can be read.
 */
export async function recoverQueue(from: string, options: { to: string; clock: Clock }): Promise<Recovery> {
  return (await loadFiles()).recoverFile(from, options);
}

/**
 * Updates the record of a deletion request from the queue before it is read: a process can be killed after settling a
 * delivery and before recording this, and a dead letter can be retried. For deliveries that the queue has forgotten, the
 * record stays as it is.
 */
function caughtUp(store: DeletionStore, inspection: Pick<QueueInspection, 'states'>): DeletionStore {
  const catchUp = async (id: string, recorded: readonly RecordedDelivery[]): Promise<void> => {
    const states = await inspection.states(recorded.map(({ deliveryId }) => deliveryId));
    const updates = recorded.map(async ({ source, deliveryId, isDelivered }) => {
      const state = states.get(deliveryId);
      if (state === undefined || endOf(state) === isDelivered) return;
      await store.settled(id, source, { deliveryId, isDelivered: endOf(state) });
    });
    await Promise.all(updates);
  };
  return {
    add: (deletion, stored) => store.add(deletion, stored),
    settled: (id, source, end) => store.settled(id, source, end),
    undelivered: (id) => store.undelivered(id),
    get: async (id) => {
      const recorded = await store.undelivered(id);
      for (let at = 0; at < recorded.length; at += AT_ONCE) {
        await catchUp(id, recorded.slice(at, at + AT_ONCE));
      }
      return store.get(id);
    },
  };
}

/** Number of deliveries whose states are looked up at once: a server gets one request for them. */
const AT_ONCE = 1_000;

/** Returns whether the delivery was delivered. Undefined if it is not settled. */
function endOf(state: DeliveryState): boolean | undefined {
  return state === 'delivered' || (state === 'dead' ? false : undefined);
}
