import { ConfigError } from '../errors.ts';
import { checkDelivery } from './check-delivery.ts';
import type { Lane } from '../queue/queue.ts';
import type { DeliveryOptions, DestinationOptions, Sources } from './options.ts';
import { prepareWebhooks, type Webhook } from './webhook.ts';

/** A destination made ready for attempts: everything that is the same for each of them is built once. */
export interface Destination {
  readonly webhooks: readonly Webhook[];
  /** The first signs attempts; empty: they are not signed. */
  readonly secrets: readonly string[];
  readonly delivery: DeliveryOptions;
  /** Longer than all attempts of a round, one after the other. */
  readonly leaseMs: number;
}

export interface NamedDestination {
  readonly lane: Lane;
  readonly destination: Destination;
}

/** The enabled destinations of all sources. @throws ConfigError for a webhook that cannot be asked, or an empty secret. */
export function prepareDestinations(sources: Sources, userAgent: string): readonly NamedDestination[] {
  return Object.entries(sources).flatMap(([source, { destinations }]) =>
    Object.entries(destinations)
      .filter(([, { enabled }]) => enabled)
      .map(([name, options]) => ({
        lane: { source, destination: name },
        destination: prepareDestination(options, {
          userAgent,
          setting: `sources.${source}.destinations.${name}`,
        }),
      })),
  );
}

/** For what a round does besides its attempts: waiting for the queue, for one. */
const LEASE_SLACK_MS = 30_000;

function prepareDestination(
  { webhooks, sharedSecrets, delivery }: DestinationOptions,
  { userAgent, setting }: { readonly userAgent: string; readonly setting: string },
): Destination {
  if (sharedSecrets.includes('')) {
    throw new ConfigError('Expected a shared secret, got an empty one', {
      key: `${setting}.sharedSecret`,
      hint: 'Give it a value, or remove it to send without a signature',
    });
  }
  checkDelivery(delivery, `${setting}.delivery`);
  return {
    webhooks: prepareWebhooks(webhooks, { userAgent, setting: `${setting}.webhooks` }),
    secrets: sharedSecrets,
    delivery,
    leaseMs: webhooks.length * delivery.timeoutMs + LEASE_SLACK_MS,
  };
}
