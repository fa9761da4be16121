import { Problems, kindOf } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import type { LaneId } from '../queue/queue.ts';
import { DELIVERY_DEFAULTS, type DeliveryOptions, type DestinationOptions, type Sources } from './options.ts';
import { findSchemes } from '../signature/schemes/find-schemes.ts';
import { Signer } from '../signature/schemes/signer.ts';
import { emptyOrBlank, isBlankSecret } from '../signature/secret.ts';
import { prepareWebhooks, type Webhook } from './webhook.ts';

/** A destination prepared for attempts: everything that is the same for every attempt is built once. */
export interface Destination {
  readonly webhooks: readonly Webhook[];
  /** The first secret signs attempts. Without secrets, attempts are unsigned. */
  readonly secrets: readonly string[];
  /** Signs attempts by the configured schemes. Undefined if no scheme is configured: the first secret signs then. */
  readonly signer: Signer | undefined;
  readonly delivery: DeliveryOptions;
  /** Duration of a lease in milliseconds: longer than all attempts of a round, one after the other. */
  readonly leaseMs: number;
}

export interface NamedDestination {
  readonly lane: LaneId;
  readonly destination: Destination;
}

/** Settings for a lane whose destination is gone: its deliveries are settled without being sent. */
export const GONE: Pick<Destination, 'delivery' | 'leaseMs'> = {
  delivery: DELIVERY_DEFAULTS,
  leaseMs: 30_000,
};

/** Prepares the enabled destinations of all sources. Throws ConfigError for an invalid webhook or secret. */
export function prepareDestinations(sources: Sources, userAgent: string): readonly NamedDestination[] {
  return Object.entries(sources).flatMap(([source, options]) => {
    return Object.entries(options.destinations).flatMap(([name, destination]) => {
      const setting = `sources.${source}.destinations.${name}`;
      if (!destination.enabled) return [];
      const prepared = prepareDestination(destination, { userAgent, setting });
      return [{ lane: { source, destination: name }, destination: prepared }];
    });
  });
}

/** Milliseconds by which a lease is longer than the attempts of a round, for example to wait for the queue. */
const LEASE_SLACK_MS = 30_000;

function prepareDestination(
  { webhooks, sharedSecrets, scheme, delivery }: DestinationOptions,
  { userAgent, setting }: { readonly userAgent: string; readonly setting: string },
): Destination {
  const problems = new Problems();
  for (const secret of sharedSecrets) {
    problems.collect(() => validateSecret(secret, `${setting}.sharedSecret`));
  }
  const texts = sharedSecrets.filter((secret: unknown) => typeof secret === 'string'); // JavaScript may give anything
  const signer = problems.collect(() =>
    scheme === undefined ? undefined : new Signer(findSchemes(scheme, { key: `${setting}.scheme` }), texts),
  );
  const schemes = signer?.schemes;
  const prepared = problems.collect(() =>
    prepareWebhooks(webhooks, { userAgent, setting: `${setting}.webhooks`, schemes }),
  );
  problems.throwIfAny(setting);
  return {
    webhooks: prepared ?? [],
    secrets: sharedSecrets,
    signer,
    delivery,
    leaseMs: webhooks.length * delivery.timeoutMs + LEASE_SLACK_MS,
  };
}

/** Throws ConfigError for a secret that is not a string, or is empty or blank. `key` names the setting in errors. */
export function validateSecret(secret: unknown, key: string): void {
  if (typeof secret === 'string' && !isBlankSecret(secret)) return;
  const got = typeof secret === 'string' ? `${emptyOrBlank(secret)} one` : kindOf(secret);
  throw new ConfigError(`Expected a shared secret, got ${got}`, {
    key,
    hint: 'give its text, or remove it to send without a signature',
  });
}
