import { hash, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { isEnabled, type OutgoingMessage } from '../message/outgoing-message.ts';
import type { Integrations } from '../message/types.ts';
import { NO_PROGRESS, type Delivery, type FirstField } from '../queue/delivery.ts';
import type { LaneId, Queue } from '../queue/queue.ts';
import type { SourceOptions, Sources } from './options.ts';

/** The deliveries of one message. */
export interface RoutedMessage {
  /** Whether the queue had already added the message, which then has no deliveries. @default false */
  readonly isKnown?: boolean;
  readonly deliveries: readonly { readonly id: string; readonly destination: string }[];
}

export interface RouterOptions {
  readonly sources: Sources;
  readonly queue: Pick<Queue, 'add' | 'addsOnce'>;
  readonly clock: Clock;
  /** Makes ids that are unique among all processes that share the queue. @default createDeliveryIds() */
  readonly newId?: (() => string) | undefined;
}

/** Turns messages into deliveries and adds them to the queue. An engine, in this process or another, delivers them. */
export class Router {
  readonly #options: RouterOptions;
  readonly #newId: () => string;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#newId = options.newId ?? createDeliveryIds();
  }

  /**
   * Adds the deliveries of a batch of messages. When the promise resolves, the queue has stored them as durably as it can: a
   * queue in a file, for example, has synced them. Returns one item per message, in order. An item has no deliveries if
   * `integrations` excludes every destination.
   * @param onRouted Gets the same items earlier, in the turn of the event loop in which the deliveries are added: if it
   *   writes to the file of the queue, one transaction commits both.
   * @throws ConfigError for an unknown source, QueueError when the deliveries cannot be stored.
   */
  async submit(
    source: string,
    messages: readonly OutgoingMessage[],
    onRouted?: (routed: readonly RoutedMessage[]) => void,
  ): Promise<readonly RoutedMessage[]> {
    const options = this.#sourceOf(source);
    const deliveries: Delivery[] = [];
    const routed = messages.map((message) => this.#toDeliveries(source, options, message, deliveries));
    onRouted?.(routed);
    const { queue } = this.#options;
    const messageIds = queue.addsOnce === true ? dedupedMessageIds(messages) : [];
    if (deliveries.length + messageIds.length === 0) return routed;
    const known = await queue.add(deliveries, messageIds.length > 0 ? { source, messageIds } : undefined);
    if (!known?.size) return routed;
    return messages.map(({ messageId }, index) =>
      known.has(messageId) ? { deliveries: [], isKnown: true } : (routed[index] ?? { deliveries: [] }),
    );
  }

  #sourceOf(name: string): SourceOptions {
    const { sources } = this.#options;
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    if (source !== undefined) return source;
    throw new ConfigError(`Expected the name of a source, got ${JSON.stringify(name)}`, {
      key: 'sources',
      hint: `use one of the known sources: ${Object.keys(sources).join(', ') || 'none'}`,
    });
  }

  #toDeliveries(
    source: string,
    options: SourceOptions,
    message: OutgoingMessage,
    all: Delivery[],
  ): RoutedMessage {
    const { messageId, type, integrations, body, orderKeys, dedupeKey, deliveryId, violation, trace } =
      message;
    const now = Math.floor(this.#options.clock.now());
    // New ids count up: a queue in a file writes fewer pages of its index for them than for digests.
    const isDigest = dedupeKey !== undefined && this.#options.queue.addsOnce !== true;
    const deliveries = enabledDestinations(options, integrations).map((destination, index) => {
      const given = deliveryId && (index === 0 ? deliveryId : `${deliveryId}-${index}`);
      const id = given ?? (isDigest ? dedupedId({ source, destination }, dedupeKey) : this.#newId());
      all.push({
        id,
        source,
        destination,
        messageId,
        type,
        body,
        orderKeys,
        trace: options.destinations[destination]?.delivery.traceparent === true ? trace : undefined,
        createdAt: now,
        dueAt: now,
        state: violation === undefined ? 'pending' : 'dead',
        progress: NO_PROGRESS,
        ...(violation !== undefined && { reason: 'unplanned' as const, detail: violation }),
      } satisfies Required<Pick<Delivery, FirstField>>);
      return { id, destination };
    });
    return { deliveries };
  }
}

/** Returns the ids of the messages that must be added only once. */
function dedupedMessageIds(messages: readonly OutgoingMessage[]): readonly string[] {
  return messages.flatMap(({ dedupeKey, messageId }) => (dedupeKey === undefined ? [] : messageId));
}

/** Returns the destinations of a source that receive a message with these `integrations`, in the order of the config. */
export function enabledDestinations(
  source: SourceOptions,
  integrations: Integrations | undefined,
): readonly string[] {
  const names: string[] = [];
  for (const name in source.destinations) {
    if (source.destinations[name]?.enabled === true && isEnabled(integrations, name)) names.push(name);
  }
  return names;
}

/**
 * Makes delivery ids: a random prefix of 72 bits and a counter, so that consecutive ids are neighbors in an index. The
 * prefix is hexadecimal, since an id that starts with `-` would be a flag on a command line.
 */
export function createDeliveryIds(): () => string {
  const prefix = randomBytes(9).toString('hex');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36).padStart(6, '0')}`;
}

/**
 * Returns the id of a delivery to a lane, derived from the dedupe key of its message, for a queue without `addsOnce`. All
 * processes get the same id for the same key, and a queue adds an id only once.
 */
export function dedupedId({ source, destination }: LaneId, dedupeKey: string): string {
  return hash('sha256', JSON.stringify([source, destination, dedupeKey]), 'hex').slice(0, 32);
}
