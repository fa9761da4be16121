import { createHash } from 'node:crypto';
import type { ReasonCode } from '../../signature/reasons.ts';

/** Another key that the signature may have been computed with. A string stands for its UTF-8. */
export interface SecretVariant {
  readonly code: ReasonCode;
  /** Follows "it would match". Never shows a secret. */
  readonly would: string;
  /** @default the fix of the code */
  readonly fix?: string;
  readonly key: string | Uint8Array;
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

export const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const DASHES = /[\u2010-\u2015\u2212]/g;

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
  ['misread-secret', 'with HOOKS_SECRET= before the secret', (_, trimmed) => `HOOKS_SECRET=${trimmed}`],
  ['misread-secret', 'with SHARED_SECRET= before the secret', (_, trimmed) => `SHARED_SECRET=${trimmed}`],
  ['misread-secret', 'with WEBHOOK_SECRET= before the secret', (_, trimmed) => `WEBHOOK_SECRET=${trimmed}`],
  ['misread-secret', 'with SECRET= before the secret', (_, trimmed) => `SECRET=${trimmed}`],
  ['misread-secret', 'without Bearer before the secret', (_, trimmed) => trimmed.replace(/^Bearer\s+/i, '')],
  ['misread-secret', 'with one line of the secret alone', (_, trimmed) => linesOf(trimmed)[0]],
  ['misread-secret', 'with one line of the secret alone', (_, trimmed) => linesOf(trimmed).at(-1)],
  ['misread-secret', 'with the value in the JSON of the secret alone', (_, trimmed) => jsonValueIn(trimmed)],
  ['misread-secret', 'with what is before the comma in the secret', (secret) => secret.split(',')[0]?.trim()],
  [
    'misread-secret',
    'with what is after the comma in the secret',
    (secret) => secret.split(',').at(-1)?.trim(),
  ],
  [
    'misread-secret',
    'without the invisible characters in the secret',
    (secret) => secret.replaceAll(INVISIBLE, ''),
  ],
  [
    'misread-secret',
    'with ASCII for the typographic dashes and quotes in the secret',
    (secret) =>
      secret
        .replaceAll(DASHES, '-')
        .replaceAll(/[\u2018\u2019]/g, "'")
        .replaceAll(/[\u201c-\u201f]/g, '"'),
  ],
  ['misread-secret', 'with half of the secret, which has it twice', (secret) => halfOf(secret)],
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
    'without the \\n at the end of the secret',
    (secret) => secret.replace(/(?:\\r)?\\n$/, ''),
  ],
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

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The one text in a secret that is JSON. */
function jsonValueIn(text: string): string | undefined {
  return /^\{\s*"[^"]*"\s*:\s*"([^"\\]+)"\s*\}$/.exec(text)?.[1];
}

function halfOf(text: string): string | undefined {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : undefined;
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
