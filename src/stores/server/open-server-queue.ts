import type { Clock } from '../../clock.ts';
import type { Queue } from '../../queue/queue.ts';
import type { RetentionOptions } from '../../queue/retention.ts';
import { openServer } from './open-server.ts';
import { ServerLanes } from './queue/server-lanes.ts';
import { ServerInspection } from './queue/server-inspection.ts';
import { ServerQueue } from './queue/server-queue.ts';
import { ServerDeletionStore } from './server-deletion-store.ts';
import { ServerSeen } from './server-seen.ts';
import { isSameServer, type Server } from './server.ts';

export interface OpenServerQueue {
  readonly server: Server;
  readonly queue: ServerQueue;
  readonly inspection: ServerInspection;
  readonly seen: ServerSeen;
  readonly deletions: ServerDeletionStore;
  /** A sentence about lanes that the server had lost from its registry. Undefined if none was lost. */
  readonly loss: string | undefined;
  /** Whether another queue is open on the same server. */
  readonly isSameServer: (other: Queue) => Promise<boolean>;
}

/** The server of each open queue, to compare the servers of two queues. */
const servers = new WeakMap<Queue, Server>();

/**
 * Opens the queue and the other stores on one server, which any number of hosts may share. Throws ConfigError
 * if the driver is missing, and QueueError.
 */
export async function openServerQueue(
  url: string,
  { clock, retention }: { readonly clock: Clock; readonly retention?: RetentionOptions | undefined },
): Promise<OpenServerQueue> {
  const server = await openServer(url);
  const lanes = new ServerLanes(server);
  const loss = await lanes.restore().catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  // A deletion request is kept as long as its deliveries, which may be delivered or dead.
  const keepMs = retention && Math.max(retention.deliveredMs, retention.deadMs);
  const queue = new ServerQueue({ server, clock, lanes, ...(retention !== undefined && { retention }) });
  servers.set(queue, server);
  return {
    server,
    queue,
    inspection: new ServerInspection({ server, clock, lanes }),
    loss,
    seen: new ServerSeen(server, clock),
    deletions: new ServerDeletionStore(server, { keepMs }),
    isSameServer: async (other) => {
      const theirs = servers.get(other);
      return theirs !== undefined && (await isSameServer(server, theirs));
    },
  };
}
