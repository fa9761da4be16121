import { NO_PROGRESS, type Delivery } from '../../src/queue/delivery.ts';
import type { Claim, LaneId, Queue } from '../../src/queue/queue.ts';

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

/** Claims in LANE, for ten seconds. */
export async function claim(queue: Queue, limit = 100, leaseMs = 10_000): Promise<readonly Claim[]> {
  return (await queue.claim({ ...LANE, limit, leaseMs })).claims;
}

/** The first of those that it claims. */
export async function claimOne(queue: Queue, limit = 1): Promise<Claim> {
  const [first] = await claim(queue, limit);
  if (first === undefined) throw new Error('nothing to claim');
  return first;
}
