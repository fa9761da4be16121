import { isUtf8 } from 'node:buffer';
import {
  ChangeTable,
  coded,
  replaced,
  type Applicable,
  type Changed,
  type ChangeRow,
  type Cost,
} from './change.ts';
import { CHARACTER_SETS } from './codecs/character-sets.ts';
import { codecChanges, type Bytes, type ChangeMeaning, type Codec, type Written } from './codecs/codec.ts';
import { BYTE_CODECS, ESCAPES, PERCENT_ENCODINGS } from './codecs/codecs.ts';

/** A secret as text, or as bytes if it was decoded. */
export type Secret = string | Uint8Array;

/** Identifies a secret, so that a search tries it once. A text and its UTF-8 bytes have the same identifier. */
export function keyOfSecret(secret: Secret): string {
  return typeof secret === 'string' && /^[\0-\x7f]*$/.test(secret)
    ? secret
    : Buffer.from(secret).toString('latin1');
}

/** Returns the secrets that result from mistakes of this cost, such as a lost space. Empty if the secret is bytes. */
export function secretChanges(secret: Secret, cost: Cost): readonly Changed<Secret>[] {
  if (typeof secret !== 'string') return [];
  const written = { text: secret, bytes: Buffer.from(secret) };
  const isAscii = written.bytes.length === secret.length;
  return [
    ...TEXT_CHANGES.changes(secret, cost),
    ...CODEC_CHANGES.changes(written, cost).map(asText),
    ...(isAscii ? [] : CHARACTER_CHANGES.changes(written, cost).map(asText)),
  ].filter(({ value }) => value.length > 0);
}

/** Converts a value of UTF-8 bytes to text, so that changes to text, such as trimming, can follow. */
function asText(change: Changed<Secret>): Changed<Secret> {
  const { value } = change;
  const isText = typeof value === 'string' || !isUtf8(value);
  return isText ? change : { ...change, value: Buffer.from(value).toString() };
}

/** Matches zero-width characters, soft hyphens, and the escape sequences with which programs color their output. */
const INVISIBLE = /\p{Cc}\[[\d;]*[A-Za-z]|[\u00ad\u200b-\u200f\u2060\ufeff]/gu;

type SecretRow = ChangeRow<string>;

/** Makes a table row for a change that replaces a pattern in the secret. It does not apply if nothing matches. */
function without(cost: Cost, would: string, pattern: RegExp, replacement = ''): SecretRow {
  return [cost, would, (secret) => replaced(secret, pattern, replacement)];
}

/** Makes a table row for a change that keeps only what the first group of a pattern matches in the secret. */
function only(cost: Cost, would: string, pattern: RegExp): SecretRow {
  return [cost, would, (secret) => pattern.exec(secret)?.[1]];
}

/**
 * Makes two rows for text before, after or around the secret of one side, such as a newline. One adds the text, unless
 * white space is there already. The other removes it, and costs 1, because such text is seldom part of a secret.
 */
function affix(cost: Cost, what: string, before: string, after = ''): readonly SecretRow[] {
  const place = before === '' ? 'at the end of' : after === '' ? 'before' : 'around';
  const name = what.replace(/^an? /, 'the ');
  return [
    [
      cost,
      `with ${what} ${place} the secret`,
      (text) =>
        (before !== '' && /^\s/.test(text)) || (after !== '' && /\s$/.test(text))
          ? undefined
          : before + text + after,
    ],
    [
      1,
      `without ${name} ${place} the secret`,
      (text) =>
        text.startsWith(before) && text.slice(before.length).endsWith(after)
          ? text.slice(before.length, text.length - after.length)
          : undefined,
    ],
  ];
}

/**
 * Mistakes of people who type or copy a secret, and of programs that read it from a configuration file. Most of those
 * that leave a trace in the secret, such as a comma, cost 1, the lowest cost.
 */
const TEXT_CHANGES = new ChangeTable([
  ...coded<string>('trimmed-secret', [
    without(1, 'without the white space around the secret', /^\s+|\s+$/g),
    ...affix(1, 'a newline', '', '\n'),
    ...affix(1, 'CRLF', '', '\r\n'),
    ...affix(1, 'a carriage return', '', '\r'),
    ...affix(1, 'a space', '', ' '),
    ...affix(2, 'a space', ' '),
    ...affix(2, 'a space', ' ', ' '),
    ...affix(2, 'a byte order mark', '\ufeff'),
  ]),
  ...coded<string>('quoted-secret', [
    ...affix(1, 'double quotes', '"', '"'),
    ...affix(1, 'single quotes', "'", "'"),
  ]),
  ...coded<string>('misread-secret', [
    [1, 'without the name and the equals sign before the secret', valueOfLine],
    only(1, 'with one line of the secret alone', /^(?:[ \t\r]*\n|#.*\n)*([^#\r\n].*?)\r?\n/),
    only(1, 'with one line of the secret alone', /\n([^#\r\n][^\r\n]*)\s*$/),
    only(1, 'with the value in the JSON of the secret alone', /^\s*\{\s*"[^"]*"\s*:\s*"([^"\\]+)"\s*\}\s*$/),
    only(1, 'with what is before the comma in the secret', /^\s*([^,]*?)\s*,/),
    only(1, 'with what is after the comma in the secret', /,\s*([^,]*?)\s*$/),
    without(1, 'without the invisible characters in the secret', INVISIBLE),
    ...affix(2, 'a zero-width space', '', '\u200b'),
    ...affix(2, 'a no-break space', '', '\u00a0'),
    [2, 'with the secret in lower case', (secret) => secret.toLowerCase()],
    [2, 'with the secret in upper case', (secret) => secret.toUpperCase()],
    without(1, 'without the \\n at the end of the secret', /(?:\\r)?\\n$/),
    without(1, 'with $$ in the secret read as $, as docker compose does', /\$\$/g, '$'),
    without(
      1,
      'with what follows $ in the secret replaced by nothing, as a shell does in double quotes',
      /\$(?:[A-Za-z_]\w*|\d|\{\w+\})/g,
    ),
    only(1, 'with the secret cut off at #, as many .env readers do', /^([^#]+?)\s*#/),
    without(2, 'without the = at the end of the secret', /=+$/),
    [1, 'with the secret padded with = as base64 is', padded],
    ...['HOOKS_SECRET', 'WEBHOOK_SECRET', 'SHARED_SECRET', 'SECRET'].flatMap((name) => [
      ...affix(2, `${name}=`, `${name}=`),
      ...affix(2, `the JSON {"${name}":…}`, `{"${name}":"`, '"}'),
    ]),
    ...['whsec_', 'Bearer '].flatMap((text) => affix(2, text.trim(), text)),
  ]),
]);

/** Returns the value in a line such as `export NAME="value"`. Undefined for other texts. */
function valueOfLine(secret: string): string | undefined {
  return /^\s*(?:export\s+|\$env:)?[A-Za-z_]\w*\s*[=:]\s*(["']?)(\S.*?)\1\s*$/s.exec(secret)?.[2];
}

function padded(secret: string): string | undefined {
  return /^[\w+/-]+$/.test(secret) ? secret.padEnd(Math.ceil(secret.length / 4) * 4, '=') : undefined;
}

const SAME_ENCODING = {
  code: 'other-encoding',
  fix: 'Key the HMAC with the same bytes on both sides: agree whether the secret is text, or is decoded from hex or base64 first, and read it as UTF-8',
} as const;

/** Decodes hex like Node's Buffer, which stops at the first pair of characters that is not hex, without an error. */
const STARTING_HEX: Codec = {
  name: 'hex up to its first character that is not a hex digit',
  decode: ({ text }) => Buffer.from(text, 'hex'),
};

const CODEC_CHANGES = new ChangeTable([
  ...bothWays([...BYTE_CODECS, STARTING_HEX], SAME_ENCODING),
  ...bothWays([...ESCAPES, ...PERCENT_ENCODINGS], { code: 'misread-secret' }),
]);
const CHARACTER_CHANGES = new ChangeTable(bothWays(CHARACTER_SETS, SAME_ENCODING));

function bothWays(codecs: readonly Codec[], meaning: ChangeMeaning): readonly Applicable<Written, Bytes>[] {
  const [what, encode, decode] = ['with the secret', 'encode', 'decode'] as const;
  return [...codecChanges(codecs, encode, what, meaning), ...codecChanges(codecs, decode, what, meaning)];
}
