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

/** One source named `default` with one destination named `Webhooks`: all that most programs need. */
export interface ShortForm {
  /** 1 to 5: a URL, or a URL with headers of its own. */
  readonly webhooks: readonly (string | (Pick<WebhookOptions, 'url'> & Incomplete<WebhookOptions>))[];
  /** The secret to sign with; of several the first signs. @default unsigned */
  readonly sharedSecret?: string | readonly string[] | undefined;
  /** The signature schemes that sign, by name, or schemes of one's own. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
  /** @default DELIVERY_DEFAULTS */
  readonly delivery?: Incomplete<DeliveryOptions> | undefined;
}

/** Throws ConfigError for invalid webhooks and for an empty list of secrets. */
export function sourcesOf({ webhooks, sharedSecret, scheme, delivery = {} }: ShortForm): Sources {
  if (!Array.isArray(webhooks)) {
    throw new ConfigError(`Expected \`webhooks\` to be a list of URLs, got ${kindOf(webhooks)}`, {
      key: 'webhooks',
      hint:
        typeof webhooks === 'string'
          ? "put the URL into a list: webhooks: ['https://host/path']"
          : "give for example webhooks: ['https://host/path']",
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

/** The source of this name; without a name the only source, or the one that is called `default`. Throws ConfigError when there is none, since every call would be rejected. */
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
      hint: 'name the source whose calls the client makes',
    },
  );
}

/** Throws ConfigError for a value that cannot be a secret. `key` names it in errors. */
export function secretsIn(sharedSecret: ShortForm['sharedSecret'], key: string): readonly string[] {
  if (sharedSecret === undefined) return [];
  if (typeof sharedSecret === 'string') return [sharedSecret];
  if (Array.isArray(sharedSecret) && sharedSecret.length > 0) return sharedSecret;
  const got = Array.isArray(sharedSecret) ? 'an empty list' : kindOf(sharedSecret);
  throw new ConfigError(`Expected \`${key}\` to be a string or a list of them, got ${got}`, {
    key,
    hint: 'give the text of the secret, or leave it out to send unsigned',
  });
}

/** Throws ConfigError for a value that cannot be a webhook. `key` names it in errors. */
export function webhookOf(webhook: ShortForm['webhooks'][number], key: string): WebhookOptions {
  if (typeof webhook === 'string') return { url: webhook, headers: {} };
  // A URL object has no `url`.
  if (typeof webhook === 'object' && webhook !== null && 'url' in webhook) {
    return { headers: {}, ...definedOf(webhook) };
  }
  throw new ConfigError(`Expected \`${key}\` to be a URL or { url, headers }, got ${kindOf(webhook)}`, {
    key,
    hint: "a URL is given as text: 'https://host/path', or the `href` of a URL object",
  });
}
