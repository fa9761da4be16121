import { createHash } from 'node:crypto';
import { REASONS, type ReasonCode } from './reasons.ts';

/** Another key that the signature may have been computed with. A string stands for its UTF-8. */
export interface SecretVariant {
  readonly code: ReasonCode;
  /** Follows "it would match". Never shows a secret. */
  readonly would: string;
  /** @default the fix of the code */
  readonly fix?: string;
  readonly key: string | Uint8Array;
}

/** A known secret that is not among those to verify with. */
export interface OtherSecret {
  readonly secret: string;
  /** Where it comes from, as `HOOKS_SECRET`. */
  readonly origin: string;
}

/** The common mistakes with one secret, the likeliest first; each key once, and none of the right ones. */
export function* secretVariants(
  secret: string,
  rightKeys: readonly (string | Uint8Array)[] = [secret],
): Generator<SecretVariant> {
  const seen = new Set<string>(rightKeys.map((key) => Buffer.from(key).toString('latin1')));
  const isText = rightKeys.includes(secret);
  if (!isText) yield { ...UNDECODED, key: secret };
  for (const [code, would, keyOf] of SECRET_MISTAKES) {
    const key = keyOf(secret, secret.trim());
    const name = key === undefined ? undefined : Buffer.from(key).toString('latin1');
    if (key === undefined || name === undefined || name === '' || seen.has(name)) continue;
    seen.add(name);
    yield { code, would, key };
  }
}

const UNDECODED = {
  code: 'misread-secret',
  would: 'with the text of the secret as the key, which the scheme decodes from base64',
  fix: 'Decode what follows the prefix of the secret from base64, and key the HMAC with those bytes',
} as const;

/** A common mistake with a secret: the code, what follows "it would match", and the key that comes of it, where one can. */
type SecretMistake = readonly [
  code: ReasonCode,
  would: string,
  keyOf: (secret: string, trimmed: string) => string | Buffer | undefined,
];

/** The variables that secrets are kept in. */
const NAMES = ['HOOKS_SECRET', 'SHARED_SECRET', 'WEBHOOK_SECRET', 'SECRET'];

const SECRET_MISTAKES: readonly SecretMistake[] = [
  ['trimmed-secret', 'without the white space around the secret', (_, trimmed) => trimmed],
  ['trimmed-secret', 'without the white space before the secret', (secret) => secret.trimStart()],
  ['trimmed-secret', 'without the white space after the secret', (secret) => secret.trimEnd()],
  ['trimmed-secret', 'with a newline at the end of the secret', (_, trimmed) => `${trimmed}\n`],
  ['trimmed-secret', 'with CRLF at the end of the secret', (_, trimmed) => `${trimmed}\r\n`],
  ['trimmed-secret', 'with a space at the end of the secret', (_, trimmed) => `${trimmed} `],
  ['trimmed-secret', 'with a space before the secret', (_, trimmed) => ` ${trimmed}`],
  ['trimmed-secret', 'with a space on both sides of the secret', (_, trimmed) => ` ${trimmed} `],
  ['trimmed-secret', 'with a newline on both sides of the secret', (_, trimmed) => `\n${trimmed}\n`],
  ['trimmed-secret', 'with a tab at the end of the secret', (_, trimmed) => `${trimmed}\t`],
  ['trimmed-secret', 'with a byte order mark before the secret', (_, trimmed) => `\ufeff${trimmed}`],
  ['quoted-secret', 'without the quotes around the secret', (_, trimmed) => withoutQuotes(trimmed)],
  ['quoted-secret', 'with double quotes around the secret', (_, trimmed) => `"${trimmed}"`],
  ['quoted-secret', 'with single quotes around the secret', (_, trimmed) => `'${trimmed}'`],
  [
    'misread-secret',
    'without the name and the equals sign before the secret',
    (_, trimmed) => valueIn(trimmed),
  ],
  ...NAMES.map((name): SecretMistake => [
    'misread-secret',
    `with ${name}= before the secret`,
    (_, trimmed) => `${name}=${trimmed}`,
  ]),
  ['misread-secret', 'without whsec_ before the secret', (_, trimmed) => bareOf(trimmed)],
  [
    'misread-secret',
    'with the bytes that the secret after whsec_ is the base64 of',
    (_, trimmed) => base64Bytes(bareOf(trimmed) ?? ''),
  ],
  ['misread-secret', 'with whsec_ before the secret', (_, trimmed) => `whsec_${trimmed}`],
  ['misread-secret', 'with the percent-encoding of the secret taken off', (secret) => percentDecoded(secret)],
  [
    'misread-secret',
    'with the secret percent-encoded',
    (secret) => encodeURIComponent(Buffer.from(secret).toString()),
  ],
  ['misread-secret', 'with the secret in lower case', (secret) => secret.toLowerCase()],
  ['misread-secret', 'with the secret in upper case', (secret) => secret.toUpperCase()],
  [
    'misread-secret',
    'with the \\n of the secret read as newlines',
    (secret) => secret.replaceAll('\\n', '\n'),
  ],
  [
    'misread-secret',
    'with $$ in the secret read as $, as docker compose does',
    (secret) => secret.replaceAll('$$', '$'),
  ],
  [
    'misread-secret',
    'with what follows $ in the secret replaced by nothing, as a shell does in double quotes',
    (secret) => secret.replaceAll(/\$\w+|\$\{\w+\}/g, ''),
  ],
  [
    'misread-secret',
    'with the secret cut off at #, as many .env readers do',
    (secret) => /^[^#]+(?=#)/.exec(secret)?.[0].trimEnd(),
  ],
  ['other-encoding', 'with the bytes that the secret is the hex of', (secret) => hexBytes(secret)],
  ['other-encoding', 'with the bytes that the secret is the base64 of', (secret) => base64Bytes(secret)],
  ['other-encoding', 'with the base64 of the secret', (secret) => Buffer.from(secret).toString('base64')],
  ['other-encoding', 'with the hex of the secret', (secret) => Buffer.from(secret).toString('hex')],
  [
    'other-encoding',
    'with the SHA-256 of the secret in hex',
    (secret) => createHash('sha256').update(secret).digest('hex'),
  ],
  ['other-encoding', 'with the secret in UTF-16', (secret) => Buffer.from(secret, 'utf16le')],
  ['other-encoding', 'with the secret in Latin-1', (secret) => Buffer.from(secret, 'latin1')],
];

/** Removes the quotes around a text, if there are any. */
function withoutQuotes(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text;
}

/** The value of a line like `export NAME="value"`. */
function valueIn(line: string): string | undefined {
  const value = /^(?:export\s+)?[A-Za-z_]\w*\s*[=:]\s*(\S.*)$/s.exec(line)?.[1];
  return value === undefined ? undefined : withoutQuotes(value);
}

function bareOf(secret: string): string | undefined {
  return secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : undefined;
}

function hexBytes(secret: string): Buffer | undefined {
  return /^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined;
}

function base64Bytes(secret: string): Buffer | undefined {
  return /^[\w+/-]+={0,2}$/.test(secret) ? Buffer.from(secret, 'base64') : undefined;
}

function percentDecoded(secret: string): string | undefined {
  try {
    return decodeURIComponent(secret);
  } catch {
    return undefined;
  }
}

/** What senders sign with whose setting is missing: their language's word for nothing. */
const WORDS_FOR_NOTHING = ['undefined', 'null', 'None', 'nil', 'NULL', 'false', '[object Object]'];

/** Names of the setting that were not replaced by its value. */
const UNEXPANDED = [
  '$HOOKS_SECRET',
  '${HOOKS_SECRET}',
  '%HOOKS_SECRET%',
  '{{HOOKS_SECRET}}',
  '$env:HOOKS_SECRET',
  'process.env.HOOKS_SECRET',
  'HOOKS_SECRET',
  '$SECRET',
  '$WEBHOOK_SECRET',
];

/** The secret that every example of the README and the help uses, and others that pages use. */
const DOCS_EXAMPLE = 's3cret';
const EXAMPLES = ['secret', 'changeme', 'your-secret', 'your_secret', 'mysecret', 'test'];

/** Whether a secret is the one that the examples use. */
export function isExampleSecret(secret: string): boolean {
  return secret === DOCS_EXAMPLE || EXAMPLES.includes(secret);
}

/** Whether a secret is text that stands for one: `<your-secret>`, `***`, `op://vault/item`, `@file`. */
export function isReference(secret: string): boolean {
  return /^(?:<[^<>]+>|\*{3,}|(?:op|vault|secretref):\/\/.*|arn:aws[\w-]*:.*|Bearer\s.*|@[\w./~-]+)$/i.test(
    secret.trim(),
  );
}

/** Other secrets that the other side may use: known ones, an empty one, placeholders. */
export function* otherSecrets(known: readonly OtherSecret[]): Generator<SecretVariant> {
  const code = 'other-secret';
  for (const { secret, origin } of known) {
    yield { code, would: `with the secret from ${origin}`, key: secret };
  }
  yield { code, would: "with an empty secret: the other side's is not set", key: '' };
  for (const key of WORDS_FOR_NOTHING) {
    yield { code, would: `with the word "${key}" as the secret: the other side's own is not set`, key };
  }
  for (const key of UNEXPANDED) {
    yield {
      code,
      fix: REASONS['unexpanded-secret'].fix,
      would: `with the text "${key}": the other side did not expand it`,
      key,
    };
  }
  yield {
    code,
    would: `with another secret: the other side uses "${DOCS_EXAMPLE}", the example of the docs`,
    key: DOCS_EXAMPLE,
  };
  for (const key of EXAMPLES) {
    yield { code, would: `with another secret: the other side uses "${key}", as examples do`, key };
  }
}
