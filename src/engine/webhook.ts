import { Problems, validateOptions } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import { MASK, printable, redactUrl } from '../redact.ts';
import { encodedUrl, requestTarget } from '../url.ts';
import { buildHeaders, type HeaderContext } from './headers.ts';
import { MAX_WEBHOOKS, type WebhookOptions } from './options.ts';

/** A validated webhook, with everything that its requests have in common. */
export interface Webhook {
  /** Identifies the webhook in the progress of a delivery: `shownUrl`, with a number if other webhooks share it. */
  readonly key: string;
  /** Position in the destination, from 1. */
  readonly position: number;
  /** The URL as requested: without userinfo, and with the path as given. */
  readonly url: string;
  /** The URL as shown and stored: userinfo and secret parameters are masked. */
  readonly shownUrl: string;
  /** Headers that are the same in every request to the webhook, so not the signature: name, value, name, value … */
  readonly headers: readonly string[];
  /** Lower-case names of the configured headers. They replace those that `hooks` sends itself, and those of a capture. */
  readonly ownNames: ReadonlySet<string>;
}

type WebhookContext = Omit<HeaderContext, 'authorization'>;

/** Validates the webhooks of a destination and builds the constant parts of their requests. @throws ConfigError */
export function prepareWebhooks(
  webhooks: readonly WebhookOptions[],
  context: WebhookContext,
): readonly Webhook[] {
  const { setting } = context;
  validateWebhookCount(webhooks.length, setting);
  const problems = new Problems();
  const all = webhooks.map((webhook, index) =>
    problems.collect(() => prepareWebhook(webhook, { ...context, setting: `${setting}[${index}]` })),
  );
  problems.throwIfAny(setting);
  const timesShown = new Map<string, number>();
  return all.flatMap((prepared, index) => {
    if (prepared === undefined) return [];
    const { shownUrl } = prepared;
    const time = (timesShown.get(shownUrl) ?? 0) + 1;
    timesShown.set(shownUrl, time);
    // A `#` and a number make the key unique, because no `shownUrl` has a fragment.
    return { ...prepared, position: index + 1, key: time === 1 ? shownUrl : `${shownUrl}#${time}` };
  });
}

/** Throws ConfigError unless `count` is from 1 to MAX_WEBHOOKS. `setting` names the webhooks in errors. */
export function validateWebhookCount(count: number, setting: string): void {
  if (count > 0 && count <= MAX_WEBHOOKS) return;
  throw new ConfigError(`Expected 1 to ${MAX_WEBHOOKS} webhooks for a destination, got ${count}`, {
    key: setting,
    hint: count === 0 ? 'give it a URL, or disable it' : 'spread them over several destinations',
  });
}

/**
 * Validates one webhook and prepares it as the first of its destination.
 * @throws ConfigError
 */
export function prepareWebhook(webhook: WebhookOptions, context: WebhookContext): Webhook {
  const { setting } = context;
  validateOptions(webhook, { setting, kinds: KINDS, required: Object.keys(KINDS) });
  const { url, shownUrl, authorization } = readUrl(webhook.url, setting);
  const headers = buildHeaders(webhook.headers, { ...context, authorization });
  const names = [...Object.keys(webhook.headers), ...(authorization === undefined ? [] : ['authorization'])];
  const ownNames = new Set(names.map((name) => name.toLowerCase()));
  return { key: shownUrl, position: 1, url, shownUrl, headers, ownNames };
}

const KINDS = { url: 'a string', headers: 'an object' } as const satisfies Record<
  keyof WebhookOptions,
  string
>;

interface WebhookAddress {
  readonly url: string;
  readonly shownUrl: string;
  readonly authorization: string | undefined;
}

function readUrl(given: string, setting: string): WebhookAddress {
  const text = given.trim();
  const fail = (message: string, hint: string): ConfigError =>
    new ConfigError(message, { key: `${setting}.url`, hint });
  const shown = shownText(text);
  if (/[\s\p{Cc}]/u.test(text)) {
    throw fail(`Expected a URL without white space in it, got \`${shown}\``, 'write a space as %20');
  }
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw fail(`Expected an http:// or https:// URL, got \`${shown}\``, suggestion(text, shown));
  }
  if (text.includes('#')) {
    throw fail(
      `Expected a URL without a fragment, got \`${shown}\``,
      'remove the # and everything after it, which is never sent, or write the # as %23',
    );
  }
  const requested = url.origin + requestTarget(text);
  return url.username === '' && url.password === ''
    ? { url: requested, shownUrl: redactUrl(encodedUrl(text)), authorization: undefined }
    : withUserinfo(url, requested);
}

/** Reads a URL with userinfo, which is sent as Basic authentication (RFC 7617). */
function withUserinfo(url: URL, requested: string): WebhookAddress {
  const credentials = Buffer.concat([
    percentDecoded(url.username),
    Buffer.from(':'),
    percentDecoded(url.password),
  ]);
  return {
    url: requested,
    shownUrl: redactUrl(requested).replace('//', `//${MASK}@`),
    authorization: `Basic ${credentials.toString('base64')}`,
  };
}

/**
 * Decodes a percent-encoded text to bytes, since a URL can encode any character encoding. A stray % stays, where
 * decodeURIComponent would throw.
 */
export function percentDecoded(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** Returns an invalid URL as errors show it: redacted, printable and shortened. */
function shownText(text: string): string {
  return printable(redactUrl(text), 200);
}

function suggestion(text: string, shown: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === 'http' || scheme === 'https') return 'check the host and the port';
  const rest = shown.replace(/^[a-z][a-z0-9+.-]*:\/\//i, '').replace(/^\/+/, '');
  const isLocal = /^(?:.*@)?(?:localhost|127\.|\[?::1|0\.0\.0\.0|[^./:]+:\d)/i.test(rest);
  return `did you mean ${isLocal ? 'http' : 'https'}://${rest}?`;
}
