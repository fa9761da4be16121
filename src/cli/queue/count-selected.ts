import type { Delivery, DeliveryState } from '../../queue/delivery.ts';
import type { LaneStats, QueueInspection } from '../../queue/inspection.ts';
import { select, type SelectionFlags } from './selection.ts';

export const COUNTS = [
  'pending',
  'sending',
  'retrying',
  'delivered',
  'dead',
] as const satisfies readonly DeliveryState[];

const ZERO = { pending: 0, sending: 0, retrying: 0, delivered: 0, dead: 0 };

/** Counts as the queue does, but only the deliveries that the flags leave, by reading each. */
export async function countSelected(
  inspection: QueueInspection,
  flags: SelectionFlags,
): Promise<readonly LaneStats[]> {
  const lanes = new Map<string, LaneStats>();
  for await (const page of select(inspection, flags, { states: COUNTS })) {
    for (const delivery of page) {
      const key = JSON.stringify([delivery.source, delivery.destination]);
      lanes.set(key, withOne(lanes.get(key), delivery));
    }
  }
  return [...lanes.entries()].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, lane]) => lane);
}

function withOne(lane: LaneStats | undefined, { source, destination, state, dueAt }: Delivery): LaneStats {
  const counted = { ...ZERO, source, destination, ...lane };
  const waits = state === 'pending' || state === 'retrying';
  return {
    ...counted,
    [state]: counted[state] + 1,
    ...(waits && { nextDueAt: Math.min(dueAt, lane?.nextDueAt ?? Infinity) }),
  };
}
