import type { Clock } from '../clock.ts';
import type { Delivery, DeliveryState } from '../queue/delivery.ts';
import type { QueueInspection } from '../queue/inspection.ts';
import { SEEN_FOR_MS, type SeenMessage } from '../service/ingest/seen.ts';
import type { DurableQueue } from './opened-queue.ts';

/** Yields the messages of the deliveries that were added in the last 24 hours. */
export async function* acceptedLately(
  inspection: QueueInspection,
  clock: Clock,
): AsyncGenerator<readonly SeenMessage[]> {
  const selection = { states: ALL_STATES, since: clock.now() - SEEN_FOR_MS, limit: PAGE };
  let after: number | undefined = 0;
  while (after !== undefined) {
    const { deliveries, next } = await inspection.list({ ...selection, after });
    yield seenMessages(deliveries);
    after = next;
  }
}

const PAGE = 1_000;
const ALL_STATES: readonly DeliveryState[] = ['pending', 'sending', 'retrying', 'delivered', 'dead'];

/**
 * Adds deliveries of another queue, and remembers their messages as seen, so that a client that sends one again does not
 * cause a second delivery.
 */
export async function addMoved(
  { queue, seen }: Pick<DurableQueue, 'queue' | 'seen'>,
  deliveries: readonly Delivery[],
): Promise<void> {
  await queue.add(deliveries);
  await seen.restore(seenMessages(deliveries));
}

/** The messages of deliveries that were accepted: a rejected message is accepted when the client sends it corrected. */
export function seenMessages(deliveries: readonly Delivery[]): readonly SeenMessage[] {
  return deliveries
    .filter(({ reason }) => reason !== 'invalid' && reason !== 'unplanned')
    .map(({ source, messageId, createdAt }) => ({ source, messageId, acceptedAt: createdAt }));
}
