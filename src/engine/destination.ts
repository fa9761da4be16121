import { Problems, kindOf } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import type { LaneId } from '../queue/queue.ts';
import type { DeliveryOptions, DestinationOptions, Sources } from './options.ts';
import { findSchemes, type SchemeChoice } from '../signature/schemes/find-schemes.ts';
import { Signer } from '../signature/schemes/signer.ts';
import { emptyOrBlank, isBlankSecret } from '../signature/secret.ts';
import { prepareWebhooks, type Webhook } from './webhook.ts';

/** A destination made ready for attempts: everything that is the same for each of them is built once. */
export interface Destination {
  readonly webhooks: readonly Webhook[];
  /** The first signs attempts; empty: they are not signed. */
  readonly secrets: readonly string[];
  /** Signs attempts when schemes are named; undefined: the first secret does, by the default scheme. */
  readonly signer: Signer | undefined;
  readonly delivery: DeliveryOptions;
  /** Longer than all attempts of a round, one after the other. */
  readonly leaseMs: number;
}

export interface NamedDestination {
  readonly lane: LaneId;
  readonly destination: Destination;
}

/** The enabled destinations of all sources. @throws ConfigError for a webhook that cannot be sent to, or a secret that cannot be used. */
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

/** The part of a lease for what a round does besides its attempts: waiting for the queue, for one. */
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
  const signer = problems.collect(() => createSigner(scheme, texts, `${setting}.scheme`));
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

/** What signs by the schemes that are named; undefined when none is. Throws ConfigError. `key` names them in errors. */
function createSigner(
  scheme: SchemeChoice | undefined,
  secrets: readonly string[],
  key: string,
): Signer | undefined {
  return scheme === undefined ? undefined : new Signer(findSchemes(scheme, { key }), secrets);
}

/** Throws ConfigError. `key` names it in errors. */
export function validateSecret(secret: unknown, key: string): void {
  if (typeof secret === 'string' && !isBlankSecret(secret)) return;
  const got = typeof secret === 'string' ? `${emptyOrBlank(secret)} one` : kindOf(secret);
  throw new ConfigError(`Expected a shared secret, got ${got}`, {
    key,
    hint: 'give its text, or remove it to send without a signature',
  });
}
