import { join } from 'node:path';
import type { AudienceCatalog, ChunkStore } from '../audience/store.ts';
import type { Clock } from '../clock.ts';
import type { DeletionStore, RecordedDelivery } from '../deletion/state.ts';
import { QueueError } from '../errors.ts';
import type { DeliveryState } from '../queue/delivery.ts';
import type { QueueInspection } from '../queue/inspection.ts';
import { monitored, type DurableQueue, type DurableQueueOptions } from './opened-queue.ts';

// Each backend is loaded by its one line here, when it is needed: its packages are installed by those who have a server.
export { MemoryQueue } from './memory/memory-queue.ts';
const loadFiles = () => import('./sqlite/open-queue-file.ts');
const loadServers = () => import('./server/open-server-queue.ts');

/** Throws ConfigError for a store of another kind, QueueError for one that cannot be used. */
export function openDurableQueue(options: DurableQueueOptions): Promise<DurableQueue> {
  const place = options.store ?? join(options.dataDir, FILE);
  return isServer(place) ? openOnServer(place, options) : openInFile(place, options);
}

/** The name of the queue's file in the data folder. */
const FILE = 'hooks.db';

/** Whether it is the URL of a server, and not of a file. It loads nothing, for those who have a file. */
export function isServer(place: string): boolean {
  return /^(?:rediss?|postgres(?:ql)?):/i.test(place);
}

async function openOnServer(
  url: string,
  { clock, retention, dataDir }: DurableQueueOptions,
): Promise<DurableQueue> {
  const { openServerQueue } = await loadServers();
  const { server, isSameServer, ...opened } = await openServerQueue(url, { clock, retention });
  const { queue, inspection } = opened;
  let audiences: ReturnType<typeof openAudienceStore> | undefined;
  return {
    ...opened,
    place: server.place,
    file: undefined,
    clock,
    loss: undefined,
    findLanes: () => inspection.findLanes(),
    deletions: caughtUp(opened.deletions, inspection),
    lanes: () => inspection.stats(),
    oldestAt: () => inspection.oldestAt(),
    check: (options) => server.check(options),
    warnings: () => server.warnings(),
    audiences: () => (audiences ??= openAudienceStore(join(dataDir, FILE), clock)),
    isSameStore: (other) => isSameServer(other.queue),
    close: async () => {
      await queue.close();
      await server.close();
      await (await audiences)?.close();
    },
  };
}

async function openInFile(place: string, options: DurableQueueOptions): Promise<DurableQueue> {
  if (place.endsWith('.part')) {
    const hint = 'run `hooks queue recover` again; the damaged file is what it was';
    throw new QueueError(`The queue ${place} is not complete: a recovery was interrupted`, { hint });
  }
  const { openQueueFile } = await loadFiles();
  const { store, isSameFile, ...opened } = await openQueueFile(place, options);
  const { queue, inspection, loss } = opened;
  return {
    ...opened,
    place: store.file,
    clock: options.clock,
    findLanes: async () => {},
    deletions: caughtUp(opened.deletions, inspection),
    ...monitored(inspection),
    check: async (forWhat) => {
      await store.check(forWhat);
      // Damaged pages may be unreadable, though there is room to write.
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

/** Opens the audiences of a file, with whatever else is in it. Throws ConfigError for another kind of place, QueueError. */
export async function openAudienceStore(
  place: string,
  clock: Clock,
): Promise<AudienceCatalog & { close(): Promise<void> }> {
  return (await loadFiles()).openAudiences(place, clock);
}

/** Opens temporary room that has no name and is gone with its process. */
export async function openChunkStore(): Promise<ChunkStore> {
  return (await loadFiles()).openChunks();
}

type Files = Awaited<ReturnType<typeof loadFiles>>;

/** A queue's file as it is found: nothing is made or changed by looking. */
export type QueueExamination = Awaited<ReturnType<Files['examineFile']>>;

/** `place` is as of `store`. Throws ConfigError for another kind of place, QueueError for a file that cannot be opened, or not even looked for. */
export async function examineQueue(place: string, clock: Clock): Promise<QueueExamination> {
  return (await loadFiles()).examineFile(place, clock);
}

export type Recovery = Awaited<ReturnType<Files['recoverFile']>>;

/**
 * Copies what can be read of the file of a queue to a new one; the file is left as it is. Throws ConfigError when there is
 * something at `to`, QueueError when nothing at all can be read.
 */
export async function recoverQueue(from: string, options: { to: string; clock: Clock }): Promise<Recovery> {
  return (await loadFiles()).recoverFile(from, options);
}

/**
 * A process may be killed between the end of a delivery and its note in the deletion request, and a dead letter may be
 * retried: the queue knows better then. Of what it knows no longer, the note counts.
 */
function caughtUp(store: DeletionStore, inspection: Pick<QueueInspection, 'states'>): DeletionStore {
  const catchUp = async (id: string, recorded: readonly RecordedDelivery[]): Promise<void> => {
    const states = await inspection.states(recorded.map(({ deliveryId }) => deliveryId));
    const ends = recorded.flatMap(({ source, deliveryId, isDelivered }) => {
      const state = states.get(deliveryId);
      if (state === undefined || endOf(state) === isDelivered) return [];
      return { source, end: { deliveryId, isDelivered: endOf(state) } };
    });
    await Promise.all(ends.map(({ source, end }) => store.settled(id, source, end)));
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

/** Looked up together: a server is asked for each by itself. */
const AT_ONCE = 1_000;

/** Undefined: the delivery is not settled. */
function endOf(state: DeliveryState): boolean | undefined {
  return state === 'delivered' || (state === 'dead' ? false : undefined);
}
