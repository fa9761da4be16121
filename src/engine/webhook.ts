import { Problems, validateOptions } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import { MASK, printable, redactUrl } from '../redact.ts';
import { encodedUrl, requestTarget } from '../url.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { buildHeaders } from './headers.ts';
import { MAX_WEBHOOKS, type WebhookOptions } from './options.ts';

/** A webhook that has been checked, with all that its requests have in common. */
export interface Webhook {
  /** Names it in the progress of a delivery: its URL as shown, numbered from the second that shares it. */
  readonly key: string;
  /** As it is requested: without userinfo, the path as given. */
  readonly url: string;
  /** As it is shown and kept: userinfo and secret parameters masked. */
  readonly shownUrl: string;
  /** Name, value, name, value … without the signature. */
  readonly headers: readonly string[];
  /** A configured `Idempotency-Key` is among the headers, and wins over the message id. */
  readonly hasOwnKey: boolean;
  /** A configured `traceparent` or `tracestate` is among the headers, and wins. */
  readonly hasOwnTrace: boolean;
}

interface WebhookContext {
  readonly userAgent: string;
  /** Names it in errors. */
  readonly setting: string;
  /** The signature schemes in use, whose headers cannot be configured. */
  readonly schemes?: readonly SignatureScheme[] | undefined;
}

/**
 * Checks the webhooks of a destination and builds their requests' constant parts once.
 * @throws ConfigError
 */
export function prepareWebhooks(
  webhooks: readonly WebhookOptions[],
  { userAgent, setting, schemes }: WebhookContext,
): readonly Webhook[] {
  validateWebhookCount(webhooks.length, setting);
  const problems = new Problems();
  const all = webhooks.map((webhook, index) =>
    problems.collect(() => prepareWebhook(webhook, { userAgent, setting: `${setting}[${index}]`, schemes })),
  );
  problems.throwIfAny(setting);
  const timesShown = new Map<string, number>();
  return all.flatMap((prepared) => {
    if (prepared === undefined) return [];
    const { shownUrl } = prepared;
    const time = (timesShown.get(shownUrl) ?? 0) + 1;
    timesShown.set(shownUrl, time);
    // No URL has a fragment here, so no other webhook's key looks like this.
    return { ...prepared, key: time === 1 ? shownUrl : `${shownUrl}#${time}` };
  });
}

/** Throws ConfigError. `setting` names the webhooks in errors. */
export function validateWebhookCount(count: number, setting: string): void {
  if (count > 0 && count <= MAX_WEBHOOKS) return;
  throw new ConfigError(`Expected 1 to ${MAX_WEBHOOKS} webhooks for a destination, got ${count}`, {
    key: setting,
    hint: count === 0 ? 'give it a URL, or disable it' : 'spread them over several destinations',
  });
}

/** The same of one webhook, whose key is that of the first with its URL. @throws ConfigError */
export function prepareWebhook(
  webhook: WebhookOptions,
  { userAgent, setting, schemes }: WebhookContext,
): Webhook {
  validateOptions(webhook, { setting, kinds: KINDS, required: Object.keys(KINDS) });
  const { url, shownUrl, authorization } = readUrl(webhook.url, setting);
  const headers = buildHeaders(webhook.headers, { userAgent, authorization, setting, schemes });
  const names = new Set(Object.keys(webhook.headers).map((name) => name.toLowerCase()));
  const hasOwnKey = names.has('idempotency-key');
  const hasOwnTrace = names.has('traceparent') || names.has('tracestate');
  return { key: shownUrl, url, shownUrl, headers, hasOwnKey, hasOwnTrace };
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
      'A fragment is never sent: remove it from the # on, or write the # as %23',
    );
  }
  const requested = url.origin + requestTarget(text);
  return url.username === '' && url.password === ''
    ? { url: requested, shownUrl: redactUrl(encodedUrl(text)), authorization: undefined }
    : withUserinfo(url, requested);
}

/** Basic authentication (RFC 7617). */
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

/** What a URL percent-encodes are bytes, of any encoding; a stray % stands for itself. */
function percentDecoded(text: string): Buffer {
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** What is no good URL, for an error text. */
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
