import { createHash } from 'node:crypto';
import type { ReasonCode } from '../../signature/reasons.ts';
import { decodedEntities, encodedEntities } from './entities.ts';
import {
  withoutQuotes,
  valueIn,
  secretLines,
  jsonValueIn,
  floatText,
  inAscii,
  halfOf,
  hexBytes,
  base64Bytes,
  base64Text,
  percentDecodedText,
} from './secret-texts.ts';
import type { Changed, ChangeRow, Cost } from './change.ts';

/** A secret as text, or as bytes if it was decoded. */
export type Secret = string | Uint8Array;

/** Returns the same key for a text and for its UTF-8 bytes, so that a search tries each secret once. */
export function keyOfSecret(secret: Secret): string {
  return typeof secret === 'string' && /^[\0-\x7f]*$/.test(secret)
    ? secret
    : Buffer.from(secret).toString('latin1');
}

/** Applies the changes of this cost that people and programs make to a secret by mistake. */
export function* secretChanges(secret: Secret, cost: Cost): Generator<Changed<Secret>> {
  if (typeof secret !== 'string') return;
  for (const { code, row } of (rowsByCost ??= splitByCost())[cost]) {
    const [, would, apply, fix] = row;
    const value = apply(secret);
    if (value === undefined || value.length === 0) continue;
    yield { code, would, cost, fix: fix ?? (code === 'other-encoding' ? SAME_ENCODING : undefined), value };
  }
}

interface CodedRow {
  readonly code: ReasonCode;
  readonly row: SecretRow;
}

/** The rows by cost, split once, because a search applies them to hundreds of secrets. */
let rowsByCost: Readonly<Record<Cost, readonly CodedRow[]>> | undefined;

function splitByCost(): Readonly<Record<Cost, readonly CodedRow[]>> {
  const all = SECRET_CHANGES.flatMap(([code, rows]) => rows.map((row) => ({ code, row })));
  const at = (cost: Cost): readonly CodedRow[] => all.filter(({ row }) => row[0] === cost);
  return { 1: at(1), 2: at(2), 3: at(3) };
}

const SAME_ENCODING =
  'Key the HMAC with the same bytes on both sides: agree whether the secret is text, or is decoded from hex or base64 first, and read it as UTF-8';

type SecretRow = ChangeRow<string, Secret>;

export const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/gu;
const PREFIX = /^(?:[a-z]{2,8}_)+(?=\w)/;

/** Makes a row that replaces a pattern in the secret. The change is impossible if nothing in the secret matches. */
function without(cost: Cost, would: string, pattern: RegExp, replacement = ''): SecretRow {
  return [
    cost,
    would,
    (secret) => (secret.search(pattern) < 0 ? undefined : secret.replace(pattern, () => replacement)),
  ];
}

function before(cost: Cost, prefix: string): SecretRow {
  return [cost, `with ${prefix.trim()} before the secret`, (secret) => prefix + secret];
}

function first(characters: number): SecretRow {
  const would = `with the first ${characters} characters of the secret alone`;
  return [3, would, (secret) => (secret.length > characters ? secret.slice(0, characters) : undefined)];
}

function hashed(algorithm: string, name: string): readonly SecretRow[] {
  const hashOf = (secret: string): Buffer => createHash(algorithm).update(secret).digest();
  return [
    [2, `with the ${name} of the secret in hex`, (secret) => hashOf(secret).toString('hex')],
    [3, `with the ${name} of the secret`, hashOf],
  ];
}

const ifUnicode =
  (change: (secret: string) => Secret) =>
  (secret: string): Secret | undefined =>
    /[^\0-\x7f]/.test(secret) ? change(secret) : undefined;

/** The changes of a secret by reason code. */
const SECRET_CHANGES: readonly (readonly [ReasonCode, readonly SecretRow[]])[] = [
  [
    'trimmed-secret',
    [
      without(1, 'without the white space around the secret', /^[ \t\r\n]+|[ \t\r\n]+$/g),
      [1, 'with a newline at the end of the secret', (secret) => `${secret}\n`],
      [1, 'with CRLF at the end of the secret', (secret) => `${secret}\r\n`],
      [1, 'with a space at the end of the secret', (secret) => `${secret} `],
      [2, 'without the white space before the secret', (secret) => secret.trimStart()],
      [2, 'without the white space after the secret', (secret) => secret.trimEnd()],
      [2, 'with a space before the secret', (secret) => ` ${secret}`],
      [2, 'with a space on both sides of the secret', (secret) => ` ${secret} `],
      [3, 'with a newline on both sides of the secret', (secret) => `\n${secret}\n`],
      [2, 'with a carriage return at the end of the secret', (secret) => `${secret}\r`],
      [2, 'without the byte order mark before the secret', (secret) => secret.replace(/^\ufeff/, '')],
      [3, 'with a byte order mark before the secret', (secret) => `\ufeff${secret}`],
    ],
  ],
  [
    'quoted-secret',
    [
      [1, 'without the quotes around the secret', withoutQuotes],
      [1, 'with double quotes around the secret', (secret) => `"${secret}"`],
      [1, 'with single quotes around the secret', (secret) => `'${secret}'`],
      [2, 'as Python prints the bytes of the secret', (secret) => `b'${secret}'`],
    ],
  ],
  [
    'misread-secret',
    [
      [2, 'without the name and the equals sign before the secret', valueIn],
      ...['HOOKS_SECRET=', 'WEBHOOK_SECRET=', 'SHARED_SECRET=', 'SECRET='].map((name) => before(2, name)),
      before(3, 'export HOOKS_SECRET='),
      before(2, 'whsec_'),
      before(3, 'Bearer '),
      without(2, 'without Bearer before the secret', /^Bearer\s+/i),
      without(1, 'without whsec_ before the secret', /^whsec_/),
      without(3, 'without the prefix of the secret', PREFIX),
      [
        2,
        'with the bytes that the secret after whsec_ is the base64 of',
        (secret) => (secret.startsWith('whsec_') ? base64Bytes(secret.slice(6)) : undefined),
      ],
      [2, 'with one line of the secret alone', (secret) => secretLines(secret)[0]],
      [2, 'with one line of the secret alone', (secret) => secretLines(secret).at(-1)],
      [2, 'with the value in the JSON of the secret alone', jsonValueIn],
      [2, 'with what is before the comma in the secret', (secret) => secret.split(',')[0]?.trim()],
      [2, 'with what is after the comma in the secret', (secret) => secret.split(',').at(-1)?.trim()],
      without(2, 'without the invisible characters in the secret', INVISIBLE),
      [2, 'with ASCII for the typographic dashes and quotes in the secret', inAscii],
      [2, 'with half of the secret, which has it twice', halfOf],
      [2, 'with the percent-encoding of the secret taken off', percentDecodedText],
      [2, 'with the secret percent-encoded', (secret) => encodeURIComponent(Buffer.from(secret).toString())],
      without(2, 'with spaces for the plus signs in the secret', /\+/g, ' '),
      [
        2,
        'with the entities of the secret decoded',
        (secret) => (secret.includes('&') ? decodedEntities(secret) : undefined),
      ],
      [2, 'with &, <, > and quotes of the secret as entities', encodedEntities],
      [3, 'with the number of the secret as a floating-point number', floatText],
      [2, 'with the secret in lower case', (secret) => secret.toLowerCase()],
      [2, 'with the secret in upper case', (secret) => secret.toUpperCase()],
      without(1, 'without the \\n at the end of the secret', /(?:\\r)?\\n$/),
      [2, 'with \\n as text at the end of the secret', (secret) => `${secret}\\n`],
      without(2, 'with the \\n of the secret read as newlines', /\\n/g, '\n'),
      without(2, 'with each backslash of the secret doubled', /\\/g, '\\\\'),
      without(2, 'without the backslashes of the secret', /\\(?=.)/g),
      without(2, 'with $$ in the secret read as $, as docker compose does', /\$\$/g, '$'),
      without(
        2,
        'with what follows $ in the secret replaced by nothing, as a shell does in double quotes',
        /\$\w+|\$\{\w+\}/g,
      ),
      [
        2,
        'with the secret cut off at #, as many .env readers do',
        (secret) => /^[^#]+(?=#)/.exec(secret)?.[0].trimEnd(),
      ],
      [3, 'with the secret cut off at its first space', (secret) => /^\S+(?=\s)/.exec(secret)?.[0]],
      [3, 'with the secret cut off where a double click stops', (secret) => /^\w+(?=\W)/.exec(secret)?.[0]],
      without(2, 'without the dashes in the secret', /-/g),
      without(2, 'with / as \\/ in the secret', /\//g, '\\/'),
      without(2, 'with \\/ as / in the secret', /\\\//g, '/'),
      [3, 'without the last character of the secret', (secret) => secret.slice(0, -1)],
      ...[32, 16, 20, 24, 64].map(first),
      without(2, 'without the = at the end of the secret', /=+$/),
      [
        2,
        'with the secret padded with = as base64 is',
        (secret) => secret.padEnd(Math.ceil(secret.length / 4) * 4, '='),
      ],
      [
        2,
        'with - and _ for + and / in the secret',
        (secret) => secret.replaceAll('+', '-').replaceAll('/', '_'),
      ],
      [
        2,
        'with + and / for - and _ in the secret',
        (secret) => secret.replaceAll('-', '+').replaceAll('_', '/'),
      ],
    ],
  ],
  [
    'other-encoding',
    [
      [1, 'with the bytes that the secret is the hex of', hexBytes],
      [1, 'with the bytes that the secret is the base64 of', base64Bytes],
      [1, 'with the text that the secret is the base64 of', base64Text],
      [1, 'with the base64 of the secret', (secret) => Buffer.from(secret).toString('base64')],
      [2, 'with the hex of the secret', (secret) => Buffer.from(secret).toString('hex')],
      [3, 'with the text that the secret is the hex of', (secret) => hexBytes(secret)?.toString()],
      ...hashed('sha256', 'SHA-256'),
      ...hashed('sha1', 'SHA-1'),
      ...hashed('md5', 'MD5'),
      [3, 'with the secret in UTF-16', (secret) => Buffer.from(secret, 'utf16le')],
      [2, 'with the secret in Latin-1', ifUnicode((secret) => Buffer.from(secret, 'latin1'))],
      [
        2,
        'with the UTF-8 of the secret taken for Latin-1',
        ifUnicode((secret) => Buffer.from(secret).toString('latin1')),
      ],
      [2, 'with the secret in Unicode form NFC', ifUnicode((secret) => secret.normalize('NFC'))],
      [2, 'with the secret in Unicode form NFD', ifUnicode((secret) => secret.normalize('NFD'))],
    ],
  ],
];
