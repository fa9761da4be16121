import type { DeletionStore } from '../deletion/state.ts';
import type { QueueInspection } from '../queue/inspection.ts';

/** A process may be killed between the end of a delivery and its note in the deletion request: the queue knows better then. */
export function caughtUp(store: DeletionStore, inspection: Pick<QueueInspection, 'get'>): DeletionStore {
  return {
    add: (deletion, stored) => store.add(deletion, stored),
    settled: (id, source, end) => store.settled(id, source, end),
    pending: (id) => store.pending(id),
    get: async (id) => {
      for (const { source, deliveryId } of await store.pending(id)) {
        const state = (await inspection.get(deliveryId))?.state;
        const isOver = state === 'delivered' || state === 'dead';
        if (isOver) await store.settled(id, source, { deliveryId, isDelivered: state === 'delivered' });
      }
      return store.get(id);
    },
  };
}
