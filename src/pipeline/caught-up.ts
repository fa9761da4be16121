import type { DeletionStore, RecordedDelivery } from '../deletion/state.ts';
import type { DeliveryState } from '../queue/delivery.ts';
import type { QueueInspection } from '../queue/inspection.ts';

/**
 * A process may be killed between the end of a delivery and its note in the deletion request, and a dead letter may be
 * retried: the queue knows better then. Of what it knows no longer, the note counts.
 */
export function caughtUp(store: DeletionStore, inspection: Pick<QueueInspection, 'get'>): DeletionStore {
  const catchUp = async (
    id: string,
    { source, deliveryId, isDelivered }: RecordedDelivery,
  ): Promise<void> => {
    const state = (await inspection.get(deliveryId))?.state;
    if (state !== undefined && endOf(state) !== isDelivered)
      await store.settled(id, source, { deliveryId, isDelivered: endOf(state) });
  };
  return {
    add: (deletion, stored) => store.add(deletion, stored),
    settled: (id, source, end) => store.settled(id, source, end),
    undelivered: (id) => store.undelivered(id),
    get: async (id) => {
      for (const delivery of await store.undelivered(id)) await catchUp(id, delivery);
      return store.get(id);
    },
  };
}

/** Undefined: it has not come to its end. */
function endOf(state: DeliveryState): boolean | undefined {
  return state === 'delivered' || (state === 'dead' ? false : undefined);
}
