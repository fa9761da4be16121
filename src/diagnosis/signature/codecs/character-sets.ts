import { isUtf8 } from 'node:buffer';
import type { Codec } from './codec.ts';

const AS_UTF_8 =
  'Read, sign and write the body as UTF-8 on both sides, or better as bytes: a reader, a database connection or a file has another character set';

/** Matches control characters, other than white space, that occur in binary data but not in one-byte text. */
const CONTROLS = /(?![\s\x7f-\x9f])\p{Cc}/u;

/** Encodings other than plain UTF-8: other character sets, UTF-8 applied twice, Unicode forms. None changes ASCII. */
export const CHARACTER_SETS: readonly Codec[] = [
  {
    name: 'UTF-8 twice, because it was taken for Latin-1',
    encode: ({ bytes }) => (isUtf8(bytes) ? bytes.toString('latin1') : undefined),
    decode: ({ text }) => utf8Of(text),
    cost: 1,
    received: 'latin-1',
    fix: AS_UTF_8,
  },
  {
    name: 'Latin-1',
    encode: ({ text }) => Buffer.from(text, 'latin1'),
    // Decodes windows-1252, which has all printable characters of Latin-1 and more.
    decode: ({ bytes }) =>
      isUtf8(bytes) || CONTROLS.test(bytes.toString('latin1'))
        ? undefined
        : new TextDecoder('windows-1252').decode(bytes),
    received: 'latin-1',
    fix: AS_UTF_8,
  },
  {
    name: 'ASCII, with ? for other characters',
    encode: ({ text }) => text.replaceAll(/[^\0-\x7f]/gu, '?'),
    fix: AS_UTF_8,
  },
  ...(['NFC', 'NFD'] as const).map((form): Codec => ({
    name: `Unicode form ${form}`,
    // Skips texts with more combining marks in a row than any language uses, because they take quadratic time.
    encode: ({ text }) => (/\p{M}{31}/u.test(text) ? undefined : text.normalize(form)),
    fix: 'Sign the bytes that are sent: macOS, databases and libraries write accents in another Unicode form',
  })),
];

/** Little-endian UTF-16. Unlike CHARACTER_SETS, it also changes ASCII. */
export const UTF_16: Codec = {
  name: 'UTF-16',
  encode: ({ text }) => Buffer.from(text, 'utf16le'),
  decode: ({ bytes }) => utf16Text(bytes),
  cost: 3,
  received: 'utf-16',
  fix: AS_UTF_8,
};

/** Restores UTF-8 bytes that were decoded as Latin-1 by mistake. Undefined if the text shows no such mistake. */
function utf8Of(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'latin1');
  return /[^\0-\x7f]/.test(text) && isUtf8(bytes) && bytes.toString('latin1') === text ? bytes : undefined;
}

/**
 * Decodes little-endian UTF-16 and removes its byte order mark. Undefined for bytes that begin neither with a byte order
 * mark nor with two Latin-1 characters in UTF-16.
 */
function utf16Text(bytes: Buffer): string | undefined {
  return /^(?:\xff\xfe|(?:[^\0]\0){2})/.test(bytes.toString('latin1', 0, 4))
    ? bytes.toString('utf16le').replace(/^\ufeff/, '')
    : undefined;
}
