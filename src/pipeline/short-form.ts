import { ConfigError } from '../errors.ts';
import {
  DEFAULT_DESTINATION,
  DEFAULT_SOURCE,
  DELIVERY_DEFAULTS,
  type DeliveryOptions,
  type Sources,
  type WebhookOptions,
} from '../engine/options.ts';

type Incomplete<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** One source named `default` with one destination named `Webhooks`: all that most programs need. */
export interface ShortForm {
  /** 1 to 5: a URL, or a URL with headers of its own. */
  readonly webhooks: readonly (string | (Pick<WebhookOptions, 'url'> & Incomplete<WebhookOptions>))[];
  /** Of several the first signs. @default unsigned */
  readonly sharedSecret?: string | readonly string[] | undefined;
  /** @default DELIVERY_DEFAULTS */
  readonly delivery?: Incomplete<DeliveryOptions> | undefined;
}

/** Throws ConfigError where there is no list of webhooks. */
export function sourcesOf({ webhooks, sharedSecret = [], delivery = {} }: ShortForm): Sources {
  if (!Array.isArray(webhooks)) {
    throw new ConfigError('Expected `webhooks` to be a list of URLs', {
      key: 'webhooks',
      hint: "for example webhooks: ['https://host/path']",
    });
  }
  const destination = {
    enabled: true,
    sharedSecrets: typeof sharedSecret === 'string' ? [sharedSecret] : sharedSecret,
    webhooks: webhooks.map((webhook) => ({
      headers: {},
      ...(typeof webhook === 'string' ? { url: webhook } : webhook),
    })),
    delivery: { ...DELIVERY_DEFAULTS, ...given(delivery) },
  };
  return { [DEFAULT_SOURCE]: { destinations: { [DEFAULT_DESTINATION]: destination } } };
}

/** What is undefined counts as absent, and has its default. */
function given(delivery: Incomplete<DeliveryOptions>): Partial<DeliveryOptions> {
  return Object.fromEntries(Object.entries(delivery).filter(([, value]) => value !== undefined));
}
