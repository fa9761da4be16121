import { ConfigError } from '../errors.ts';
import { kindOf } from '../validate-options.ts';
import { printable } from '../redact.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';

export interface HeaderContext {
  /** Value of `User-Agent`: a product token, `<name>/<version>`. A configured `User-Agent` header replaces it. */
  readonly userAgent: string;
  /** The `Authorization` header for the userinfo of the URL. Undefined if the URL has none. */
  readonly authorization: string | undefined;
  /** The signature schemes in use, whose headers cannot be configured. */
  readonly schemes?: readonly SignatureScheme[] | undefined;
  /** Path of the webhook in the config, for errors, such as `sources.default.destinations.Webhooks.webhooks[0]`. */
  readonly setting: string;
}

/**
 * Builds the headers of every request to a webhook, except the signature: name, value, name, value … Throws ConfigError for
 * a header that cannot or must not be sent, without showing its value.
 */
export function buildHeaders(configured: Readonly<Record<string, string>>, context: HeaderContext): string[] {
  const seen = new Set<string>();
  const headers: string[] = [];
  for (const [name, value] of Object.entries(configured)) {
    validateName(name, context);
    validateValue(name, value, context);
    if (seen.has(name.toLowerCase())) throw twice(name, context);
    seen.add(name.toLowerCase());
    headers.push(name, value);
  }
  return [
    ...(seen.has('user-agent') ? [] : ['User-Agent', context.userAgent]),
    'Content-Type',
    'application/json',
    ...headers,
    ...authorizationHeader(seen, context),
  ];
}

/** Matches an HTTP token (RFC 9110, 5.6.2), the syntax of a header name. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Reserved header names, with the reason why they cannot be configured. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade'].map(
    (name) => [name, 'it belongs to one connection, not to the message'] as const,
  ),
  ['host', 'it follows from the URL'],
  ['content-length', 'it follows from the body'],
  ['content-type', 'it is application/json, or with --exact that of the capture'],
  ['expect', 'a webhook is sent without waiting for 100 Continue'],
  ['x-signature', 'it is computed from the body; set a shared secret to send it'],
]);

function validateName(name: string, context: HeaderContext): void {
  if (!TOKEN.test(name)) {
    throw error(`Expected a header name, got \`${shownName(name)}\``, context, {
      hint: "use letters, digits and any of !#$%&'*+-.^_`|~",
    });
  }
  const lower = name.toLowerCase();
  const proxy = lower.startsWith('proxy-') ? 'it is for a proxy, not for the receiver' : undefined;
  const reason = proxy ?? RESERVED.get(lower) ?? signedReason(lower, context);
  if (reason === undefined) return;
  throw error(`Header \`${name}\` cannot be set: ${reason}`, context, { name, hint: `remove \`${name}\`` });
}

function signedReason(lowerName: string, { schemes = [] }: HeaderContext): string | undefined {
  const scheme = schemes.find(({ headers }) =>
    Object.keys(headers).some((name) => name.toLowerCase() === lowerName),
  );
  return scheme && `the signature scheme ${scheme.name} computes it for each attempt`;
}

/** Shows a name only up to its first invalid character: `Authorization: Bearer …` pasted as a name contains the secret. */
function shownName(name: string): string {
  const valid = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*/.exec(name)?.[0] ?? '';
  return `${printable(valid, 60)}…`;
}

function validateValue(name: string, value: unknown, context: HeaderContext): void {
  if (typeof value !== 'string') {
    throw error(`Expected header \`${name}\` to be a string, got ${kindOf(value)}`, context, {
      name,
      hint: 'put a number in quotes, or remove the header',
    });
  }
  // eslint-disable-next-line no-control-regex -- a tab is the one control character allowed
  const wrong = /[^\t\x20-\x7e\x80-\xff]/.exec(value);
  if (wrong === null) return;
  const what = describe(wrong[0]);
  throw error(`Header \`${name}\` has ${what} at character ${wrong.index + 1} of its value`, context, {
    name,
    hint: 'use tabs, spaces and characters up to U+00FF only; a value read from a file often ends with a line break',
  });
}

function describe(character: string): string {
  if (character === '\n' || character === '\r') return 'a line break';
  return character < '\x80' ? 'a control character' : 'a character above U+00FF';
}

function twice(name: string, context: HeaderContext): ConfigError {
  return error(`Header \`${name}\` is given twice, in different spellings`, context, {
    name,
    hint: 'keep one of them, or join the values with a comma',
  });
}

function authorizationHeader(seen: ReadonlySet<string>, context: HeaderContext): string[] {
  if (context.authorization === undefined) return [];
  if (seen.has('authorization')) {
    throw error('Header `Authorization` is set, and the URL has a user or password as well', context, {
      name: 'Authorization',
      hint: 'remove one of the two: the part before the @ of the URL is sent as Authorization',
    });
  }
  return ['Authorization', context.authorization];
}

function error(
  message: string,
  { setting }: HeaderContext,
  { name, hint }: { name?: string; hint: string },
): ConfigError {
  return new ConfigError(message, { key: `${setting}.headers${name === undefined ? '' : `.${name}`}`, hint });
}
