import type { Clock } from '../clock.ts';
import type { Delivery } from './delivery.ts';
import type { QueueInspection } from './inspection.ts';
import type { LaneId } from './queue.ts';

/** Deliveries per step: each step holds up other writes for some milliseconds. */
const STEP = 500;

/**
 * Makes the retrying deliveries of a lane due now, except those whose webhook asked for a longer wait. Calls `goesOn`
 * after each step, and stops if it returns false. Rejects with QueueError.
 */
export async function makeLaneDue(
  inspection: QueueInspection,
  lane: LaneId,
  { clock, goesOn }: { readonly clock: Pick<Clock, 'now'>; readonly goesOn: () => boolean },
): Promise<void> {
  let after: number | undefined;
  do {
    const selection = { states: ['retrying'], limit: STEP, ...(after !== undefined && { after }) } as const;
    const { deliveries, next } = await inspection.list(selection);
    const now = clock.now();
    const ids = deliveries.filter((each) => isOf(lane, each) && waitsInVain(each, now)).map(({ id }) => id);
    if (ids.length > 0) await inspection.makeDue(ids);
    after = next;
  } while (goesOn() && after !== undefined);
}

function isOf({ source, destination }: LaneId, delivery: Delivery): boolean {
  return delivery.source === source && delivery.destination === destination;
}

/** Whether a delivery waits for its next round although no webhook asked for a wait. */
export function waitsInVain({ dueAt, progress }: Pick<Delivery, 'dueAt' | 'progress'>, now: number): boolean {
  return dueAt > now && Object.values(progress.notBefore).every((until) => until <= now);
}
