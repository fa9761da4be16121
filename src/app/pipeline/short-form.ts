import {
  DEFAULT_DESTINATION,
  DEFAULT_SOURCE,
  DELIVERY_DEFAULTS,
  type DeliveryOptions,
  type Sources,
  type WebhookOptions,
} from '../../engine/options.ts';
import { ConfigError } from '../../errors.ts';
import { definedOf, isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import type { SchemeChoice } from '../../signature/schemes/find-schemes.ts';

type Incomplete<T> = { readonly [Key in keyof T]?: T[Key] | undefined };

/** Options for one source named `default` with one destination named `Webhooks`, which suffice for most programs. */
export interface ShortForm {
  /** List of 1 to 5 webhooks. Each is a URL, or an object with a URL and its headers. */
  readonly webhooks: readonly (string | (Pick<WebhookOptions, 'url'> & Incomplete<WebhookOptions>))[];
  /** The secret to sign with; of several secrets the first signs. @default unsigned */
  readonly sharedSecret?: string | readonly string[] | undefined;
  /** The signature schemes to sign with: names or custom schemes. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /** Timeouts, retries and other options of the destination's deliveries. @default DELIVERY_DEFAULTS */
  readonly delivery?: Incomplete<DeliveryOptions> | undefined;
}

/** Wrong names of options, mapped to the right names for hints. */
export const OTHER_NAMES = {
  url: 'webhooks',
  urls: 'webhooks',
  secret: 'sharedSecret',
  secrets: 'sharedSecret',
};

/**
 * Converts the short form to sources with all defaults. Throws ConfigError for invalid webhooks and an empty list of
 * secrets.
 */
export function sourcesOf({ webhooks, sharedSecret, scheme, delivery = {} }: ShortForm): Sources {
  if (!Array.isArray(webhooks)) {
    throw new ConfigError(`Expected \`webhooks\` to be a list of URLs, got ${kindOf(webhooks)}`, {
      key: 'webhooks',
      hint:
        typeof webhooks === 'string'
          ? "put the URL into a list: webhooks: ['https://host/path']"
          : "for example webhooks: ['https://host/path']",
    });
  }
  const destination = {
    enabled: true,
    sharedSecrets: secretsIn(sharedSecret, 'sharedSecret'),
    ...(scheme !== undefined && { scheme }),
    webhooks: webhooks.map((webhook, index) => webhookOf(webhook, `webhooks[${index}]`)),
    delivery: { ...DELIVERY_DEFAULTS, ...(isObject(delivery) && definedOf(delivery)) },
  };
  return { [DEFAULT_SOURCE]: { destinations: { [DEFAULT_DESTINATION]: destination } } };
}

/**
 * Finds the source by its name, by default the only source or `default`. Throws ConfigError for an unknown source, because
 * it would reject every message.
 */
export function sourceNamed(sources: Sources, named: string | undefined): string {
  const names = Object.keys(sources);
  const [only = DEFAULT_SOURCE] = names;
  const source = named ?? (names.length === 1 ? only : DEFAULT_SOURCE);
  if (names.includes(source)) return source;
  const got = named === undefined ? 'none' : printable(JSON.stringify(named), 80);
  throw new ConfigError(
    `Expected \`source\` to be one of ${names.map((name) => printable(name, 80)).join(', ')}, got ${got}`,
    {
      key: 'source',
      hint: "name the source of the client's messages",
    },
  );
}

/**
 * Returns the secrets as a list. Throws ConfigError, with the setting `key`, if the value is neither a string nor a list.
 */
export function secretsIn(sharedSecret: ShortForm['sharedSecret'], key: string): readonly string[] {
  if (sharedSecret === undefined) return [];
  if (typeof sharedSecret === 'string') return [sharedSecret];
  if (Array.isArray(sharedSecret) && sharedSecret.length > 0) return sharedSecret;
  const got = Array.isArray(sharedSecret) ? 'an empty list' : kindOf(sharedSecret);
  throw new ConfigError(`Expected \`${key}\` to be a string or a list of them, got ${got}`, {
    key,
    hint: 'pass the secret as a string, or omit the option to send unsigned',
  });
}

/**
 * Completes a webhook. Throws ConfigError, with the setting `key`, if the value is neither a URL nor an object with `url`.
 */
export function webhookOf(webhook: ShortForm['webhooks'][number], key: string): WebhookOptions {
  if (typeof webhook === 'string') return { url: webhook, headers: {} };
  // The check for `url` rejects an instance of `URL`, which has no property of that name.
  if (typeof webhook === 'object' && webhook !== null && 'url' in webhook) {
    return { headers: {}, ...definedOf(webhook) };
  }
  throw new ConfigError(`Expected \`${key}\` to be a URL or { url, headers }, got ${kindOf(webhook)}`, {
    key,
    hint: "pass a URL as a string: 'https://host/path', or the `href` of a URL object",
  });
}
