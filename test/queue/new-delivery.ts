import { NO_PROGRESS, type Delivery } from '../../src/queue/delivery.ts';
import type { LaneId } from '../../src/queue/queue.ts';

export const LANE: LaneId = { source: 'web', destination: 'Webhooks' };

const BODY = new TextEncoder().encode('{"version":1}');

/** Creates a delivery in LANE that is due at the epoch, unless `fields` say otherwise. */
export function newDelivery(id: string, fields: Partial<Delivery> = {}): Delivery {
  return {
    id,
    ...LANE,
    messageId: `message-${id}`,
    type: 'track',
    body: BODY,
    orderKeys: [],
    createdAt: 0,
    dueAt: 0,
    state: 'pending',
    progress: NO_PROGRESS,
    ...fields,
  };
}
