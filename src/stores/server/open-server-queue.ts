import type { Clock } from '../../clock.ts';
import { makeLaneDue } from '../../queue/make-lane-due.ts';
import type { LaneId } from '../../queue/queue.ts';
import type { RetentionOptions } from '../../queue/retention.ts';
import { openServer } from './open-server.ts';
import { ServerLanes } from './queue/server-lanes.ts';
import { ServerInspection } from './queue/server-inspection.ts';
import { ServerQueue } from './queue/server-queue.ts';
import { ServerDeletionStore } from './server-deletion-store.ts';
import { ServerSeen } from './server-seen.ts';

/** Opens the queue and the other stores on a server. Throws ConfigError if the driver is missing, otherwise QueueError. */
export async function openServerQueue(
  url: string,
  { clock, retention }: { readonly clock: Clock; readonly retention?: RetentionOptions | undefined },
) {
  const server = await openServer(url);
  const lanes = new ServerLanes(server);
  const loss = await lanes.restore().catch(async (error: unknown) => {
    await server.close();
    throw error;
  });
  // Keeps a deletion request as long as its deliveries, which can be delivered or dead.
  const keepMs = retention && Math.max(retention.deliveredMs, retention.deadMs);
  const inspection = new ServerInspection({ server, clock, lanes });
  return {
    server,
    queue: new ServerQueue({ server, clock, lanes, ...(retention !== undefined && { retention }) }),
    inspection,
    makeDue: (lane: LaneId, goesOn: () => boolean) => makeLaneDue(inspection, lane, { clock, goesOn }),
    loss,
    seen: new ServerSeen(server, clock),
    deletions: new ServerDeletionStore(server, { keepMs }),
  };
}
