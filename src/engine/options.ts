import {
  validateOptions,
  Problems,
  isObject,
  type KnownOptions,
  type OptionKind,
} from '../validate-options.ts';
import type { SchemeChoice } from '../signature/schemes/find-schemes.ts';
import { CONNECTION_KINDS, type ConnectionOptions } from '../transport/transport.ts';

export type { ConnectionOptions } from '../transport/transport.ts';

/** One URL that deliveries are posted to, with headers of its own. At most MAX_WEBHOOKS per destination. */
export interface WebhookOptions {
  /** http: or https:. Userinfo becomes Basic auth; a fragment is rejected. */
  readonly url: string;
  /** Static headers, sent with every attempt. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeliveryOptions extends ConnectionOptions {
  /** `fallback`: in order until one succeeds. `broadcast`: all at once. @default 'fallback' */
  readonly strategy: 'fallback' | 'broadcast';
  /** For one attempt, name lookup to status line. Ms, 1 to 30,000. @default 5000 */
  readonly timeoutMs: number;
  /** The retry window, from the first attempt. Ms; 0 means one round. @default 14_400_000 (4 h) */
  readonly retryForMs: number;
  /** Deliveries in flight at once to the destination. 1 to 1024. @default 32 */
  readonly concurrency: number;
  /** Whether webhooks may be at loopback, private and link-local addresses where they are checked: in `serve` and `worker`. @default false */
  readonly allowPrivate?: boolean | undefined;
  /** Whether every attempt carries the message id as `Idempotency-Key`. @default true */
  readonly idempotencyKey?: boolean | undefined;
  /** Whether every attempt carries a W3C `traceparent`: in the trace of the call to the service, else in one of its own. @default false */
  readonly traceparent?: boolean | undefined;
  /** How many failures in a row make a webhook unhealthy. At least 1. @default { failures: 10 } */
  readonly health: { readonly failures: number };
}

/** A destination of a source. Its key in `Sources` is its name in `integrations`. */
export interface DestinationOptions {
  /** @default true */
  readonly enabled: boolean;
  /** The first signs, all verify. Empty: unsigned. */
  readonly sharedSecrets: readonly string[];
  /** The signature schemes that sign, each with the first secret that is meant for it. @default 'segment', with the first secret */
  readonly scheme?: SchemeChoice | undefined;
  readonly webhooks: readonly WebhookOptions[];
  readonly delivery: DeliveryOptions;
}

export interface SourceOptions {
  readonly writeKey?: string | undefined;
  readonly destinations: Readonly<Record<string, DestinationOptions>>;
}

export type Sources = Readonly<Record<string, SourceOptions>>;

export const MAX_WEBHOOKS = 5;
export const DEFAULT_SOURCE = 'default';
export const DEFAULT_DESTINATION = 'Webhooks';

export const DELIVERY_KINDS = {
  strategy: { choices: ['fallback', 'broadcast'] },
  timeoutMs: { least: 1, most: 30_000 },
  retryForMs: { least: 0, most: Number.MAX_SAFE_INTEGER },
  concurrency: { least: 1, most: 1_024 },
  ...CONNECTION_KINDS,
  allowPrivate: 'a boolean',
  idempotencyKey: 'a boolean',
  traceparent: 'a boolean',
  health: 'an object',
} as const satisfies Record<keyof DeliveryOptions, OptionKind>;

const HEALTH: KnownOptions = {
  kinds: { failures: { least: 1, most: Number.MAX_SAFE_INTEGER } },
  required: ['failures'],
};

export const DELIVERY_DEFAULTS: DeliveryOptions = {
  strategy: 'fallback',
  timeoutMs: 5_000,
  retryForMs: 4 * 60 * 60 * 1000,
  concurrency: 32,
  health: { failures: 10 },
};

/**
 * Throws ConfigError for options that are unknown, missing or out of range: an attempt without a deadline would be given up before it
 * is made. Config files are checked when they are read; this check is for programs. `setting` names the options in errors.
 */
export function validateDelivery(delivery: DeliveryOptions, setting: string): void {
  const problems = new Problems();
  problems.collect(() => validateOptions(delivery, { setting, kinds: DELIVERY_KINDS, required: REQUIRED }));
  if (isObject(delivery) && isObject(delivery.health)) {
    // Only the known option: others have always been ignored here.
    const { failures } = delivery.health;
    problems.collect(() => validateOptions({ failures }, { ...HEALTH, setting: `${setting}.health` }));
  }
  problems.throwIfAny(setting);
}

const REQUIRED = Object.keys(DELIVERY_DEFAULTS);
