import type { DeletionStore, RecordedDelivery } from '../deletion/state.ts';
import type { DeliveryState } from '../queue/delivery.ts';
import type { QueueInspection } from '../queue/inspection.ts';

/**
 * A process may be killed between the end of a delivery and its note in the deletion request, and a dead letter may be
 * retried: the queue knows better then. Of what it knows no longer, the note counts.
 */
export function caughtUp(store: DeletionStore, inspection: Pick<QueueInspection, 'states'>): DeletionStore {
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
