import { createHash } from 'node:crypto';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { Mistake } from './mistake.ts';

/** A wrong key that the signature may have been computed with. A string stands for its UTF-8 bytes. */
export interface SecretVariant extends Mistake {
  readonly key: string | Uint8Array;
}

/**
 * Yields the keys that result from common mistakes with one secret, the likeliest first. Skips repeated keys and
 * `rightKeys`.
 */
export function* secretVariants(
  secret: string,
  rightKeys: readonly (string | Uint8Array)[] = [secret],
): Generator<SecretVariant> {
  const seen = new Set<string>(rightKeys.map((key) => Buffer.from(key).toString('latin1')));
  if (!rightKeys.includes(secret)) yield { ...UNDECODED, key: secret };
  for (const [code, mistakes] of SECRET_MISTAKES) {
    for (const [would, keyOf] of mistakes) {
      const key = keyOf(secret, secret.trim()) ?? '';
      const name = Buffer.from(key).toString('latin1');
      if (name === '' || seen.has(name)) continue;
      seen.add(name);
      yield { code, would, key };
    }
  }
}

const UNDECODED = {
  code: 'misread-secret',
  would: 'with the text of the secret as the key, which the scheme decodes from base64',
  fix: 'Decode what follows the prefix of the secret from base64, and key the HMAC with those bytes',
} as const;

/**
 * A mistake with a secret: its description (`with a newline at the end of the secret`), and the key that results. `keyOf`
 * returns undefined if the mistake is impossible with this secret.
 */
type SecretMistake = readonly [
  would: string,
  keyOf: (secret: string, trimmed: string) => string | Buffer | undefined,
];

export const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const DASHES = /[\u2010-\u2015\u2212]/g;

/** The common mistakes with a secret, grouped by reason code, the likeliest first. */
const SECRET_MISTAKES: readonly (readonly [ReasonCode, readonly SecretMistake[]])[] = [
  [
    'trimmed-secret',
    [
      ['without the white space around the secret', (_, trimmed) => trimmed],
      ['without the white space before the secret', (secret) => secret.trimStart()],
      ['without the white space after the secret', (secret) => secret.trimEnd()],
      ['with a newline at the end of the secret', (_, trimmed) => `${trimmed}\n`],
      ['with CRLF at the end of the secret', (_, trimmed) => `${trimmed}\r\n`],
      ['with a space at the end of the secret', (_, trimmed) => `${trimmed} `],
      ['with a space before the secret', (_, trimmed) => ` ${trimmed}`],
      ['with a space on both sides of the secret', (_, trimmed) => ` ${trimmed} `],
      ['with a newline on both sides of the secret', (_, trimmed) => `\n${trimmed}\n`],
      ['with a tab at the end of the secret', (_, trimmed) => `${trimmed}\t`],
      ['with a byte order mark before the secret', (_, trimmed) => `\ufeff${trimmed}`],
    ],
  ],
  [
    'quoted-secret',
    [
      ['without the quotes around the secret', (_, trimmed) => withoutQuotes(trimmed)],
      ['with double quotes around the secret', (_, trimmed) => `"${trimmed}"`],
      ['with single quotes around the secret', (_, trimmed) => `'${trimmed}'`],
    ],
  ],
  [
    'misread-secret',
    [
      ['without the name and the equals sign before the secret', (_, trimmed) => valueIn(trimmed)],
      ['with HOOKS_SECRET= before the secret', (_, trimmed) => `HOOKS_SECRET=${trimmed}`],
      ['with SHARED_SECRET= before the secret', (_, trimmed) => `SHARED_SECRET=${trimmed}`],
      ['with WEBHOOK_SECRET= before the secret', (_, trimmed) => `WEBHOOK_SECRET=${trimmed}`],
      ['with SECRET= before the secret', (_, trimmed) => `SECRET=${trimmed}`],
      ['without Bearer before the secret', (_, trimmed) => trimmed.replace(/^Bearer\s+/i, '')],
      ['with one line of the secret alone', (_, trimmed) => linesOf(trimmed)[0]],
      ['with one line of the secret alone', (_, trimmed) => linesOf(trimmed).at(-1)],
      ['with the value in the JSON of the secret alone', (_, trimmed) => jsonValueIn(trimmed)],
      ['with what is before the comma in the secret', (secret) => secret.split(',')[0]?.trim()],
      ['with what is after the comma in the secret', (secret) => secret.split(',').at(-1)?.trim()],
      ['without the invisible characters in the secret', (secret) => secret.replaceAll(INVISIBLE, '')],
      [
        'with ASCII for the typographic dashes and quotes in the secret',
        (secret) =>
          secret
            .replaceAll(DASHES, '-')
            .replaceAll(/[\u2018\u2019]/g, "'")
            .replaceAll(/[\u201c-\u201f]/g, '"'),
      ],
      ['with half of the secret, which has it twice', (secret) => halfOf(secret)],
      ['without whsec_ before the secret', (_, trimmed) => withoutWhsec(trimmed)],
      [
        'with the bytes that the secret after whsec_ is the base64 of',
        (_, trimmed) => base64Bytes(withoutWhsec(trimmed) ?? ''),
      ],
      ['with whsec_ before the secret', (_, trimmed) => `whsec_${trimmed}`],
      ['with the percent-encoding of the secret taken off', (secret) => percentDecoded(secret)],
      ['with the secret percent-encoded', (secret) => encodeURIComponent(Buffer.from(secret).toString())],
      ['with the secret in lower case', (secret) => secret.toLowerCase()],
      ['with the secret in upper case', (secret) => secret.toUpperCase()],
      ['without the \\n at the end of the secret', (secret) => secret.replace(/(?:\\r)?\\n$/, '')],
      ['with the \\n of the secret read as newlines', (secret) => secret.replaceAll('\\n', '\n')],
      ['with $$ in the secret read as $, as docker compose does', (secret) => secret.replaceAll('$$', '$')],
      [
        'with what follows $ in the secret replaced by nothing, as a shell does in double quotes',
        (secret) => secret.replaceAll(/\$\w+|\$\{\w+\}/g, ''),
      ],
      [
        'with the secret cut off at #, as many .env readers do',
        (secret) => /^[^#]+(?=#)/.exec(secret)?.[0].trimEnd(),
      ],
    ],
  ],
  [
    'other-encoding',
    [
      ['with the bytes that the secret is the hex of', (secret) => hexBytes(secret)],
      ['with the bytes that the secret is the base64 of', (secret) => base64Bytes(secret)],
      ['with the base64 of the secret', (secret) => Buffer.from(secret).toString('base64')],
      ['with the hex of the secret', (secret) => Buffer.from(secret).toString('hex')],
      [
        'with the SHA-256 of the secret in hex',
        (secret) => createHash('sha256').update(secret).digest('hex'),
      ],
      ['with the secret in UTF-16', (secret) => Buffer.from(secret, 'utf16le')],
      ['with the secret in Latin-1', (secret) => Buffer.from(secret, 'latin1')],
    ],
  ],
];

function withoutQuotes(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text)?.[2] ?? text;
}

/** The value in a line such as `export NAME="value"`. */
function valueIn(line: string): string | undefined {
  const value = /^(?:export\s+)?[A-Za-z_]\w*\s*[=:]\s*(\S.*)$/s.exec(line)?.[1];
  return value === undefined ? undefined : withoutQuotes(value);
}

function linesOf(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The value of a secret that is a JSON object with one member. */
function jsonValueIn(text: string): string | undefined {
  return /^\{\s*"[^"]*"\s*:\s*"([^"\\]+)"\s*\}$/.exec(text)?.[1];
}

function halfOf(text: string): string | undefined {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : undefined;
}

function withoutWhsec(secret: string): string | undefined {
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
