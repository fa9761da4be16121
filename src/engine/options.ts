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

/** One URL that deliveries are posted to, with its own headers. A destination has at most MAX_WEBHOOKS. */
export interface WebhookOptions {
  /** `http:` or `https:`. Userinfo becomes Basic authentication; a fragment is rejected. */
  readonly url: string;
  /** Static headers of every attempt. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface DeliveryOptions extends ConnectionOptions {
  /** `fallback`: one webhook after the other until one succeeds. `broadcast`: all at once. @default 'fallback' */
  readonly strategy: 'fallback' | 'broadcast';
  /** Milliseconds for one attempt, from name lookup to status line. 1 to 30,000. @default 5000 */
  readonly timeoutMs: number;
  /** The retry window in milliseconds, from the first attempt. 0 means one round. @default 14_400_000 (4 h) */
  readonly retryForMs: number;
  /** Maximum number of deliveries in flight to the destination. 1 to 1024. @default 32 */
  readonly concurrency: number;
  /**
   * Whether `serve` and `worker` connect to loopback, private and link-local addresses, which they otherwise reject.
   * @default false
   */
  readonly allowPrivate?: boolean | undefined;
  /** Whether every attempt has the message id as `Idempotency-Key`. @default true */
  readonly idempotencyKey?: boolean | undefined;
  /**
   * Whether every attempt has a W3C `traceparent`, which continues the trace of the message or starts a new one. @default
   * false
   */
  readonly traceparent?: boolean | undefined;
  /** When a webhook counts as unhealthy: after `failures` consecutive failures, at least 1. @default { failures: 10 } */
  readonly health: { readonly failures: number };
}

/** A destination of a source. Its key in `destinations` is its name in the `integrations` of messages. */
export interface DestinationOptions {
  /** Whether the destination gets deliveries. @default true */
  readonly enabled: boolean;
  /** Secrets shared with the receiver: the first signs, and each of them verifies. If empty, requests are not signed. */
  readonly sharedSecrets: readonly string[];
  /** The signature schemes that sign, each with the first secret that fits it. @default 'segment', with the first secret */
  readonly scheme?: SchemeChoice | undefined;
  readonly webhooks: readonly WebhookOptions[];
  readonly delivery: DeliveryOptions;
}

/** The tracking plan of a source. Only `serve` checks messages with it. */
export interface SourcePlan {
  /** Path of the plan: a file or a folder. */
  readonly file: string;
  /**
   * `report`: a message that violates the plan is counted and logged, and delivered. `reject`: it becomes a dead letter.
   * @default 'report'
   */
  readonly onViolation: 'report' | 'reject';
}

export interface SourceOptions {
  readonly writeKey?: string | undefined;
  readonly plan?: SourcePlan | undefined;
  readonly destinations: Readonly<Record<string, DestinationOptions>>;
}

export type Sources = Readonly<Record<string, SourceOptions>>;

export const MAX_WEBHOOKS = 5;
export const DEFAULT_SOURCE = 'default';
export const DEFAULT_DESTINATION = 'Webhooks';

export const PLAN_KINDS = {
  file: 'a string',
  onViolation: { choices: ['report', 'reject'] },
} as const satisfies Record<keyof SourcePlan, OptionKind>;

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
 * Validates the delivery options that a program passes; those in a config file are validated when the file is read. Throws
 * ConfigError for options that are unknown, missing or out of range: for example, an attempt without a timeout would fail
 * before its request. `setting` names the options in errors.
 */
export function validateDelivery(delivery: DeliveryOptions, setting: string): void {
  const problems = new Problems();
  problems.collect(() => validateOptions(delivery, { setting, kinds: DELIVERY_KINDS, required: REQUIRED }));
  if (isObject(delivery) && isObject(delivery.health)) {
    // Validates only `failures`, because unknown options of `health` have always been ignored.
    const { failures } = delivery.health;
    problems.collect(() => validateOptions({ failures }, { ...HEALTH, setting: `${setting}.health` }));
  }
  problems.throwIfAny(setting);
}

const REQUIRED = Object.keys(DELIVERY_DEFAULTS);
