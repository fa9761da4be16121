import { isUtf8 } from 'node:buffer';
import { withMeaning, type Bytes, type Codec, type Written } from './codec.ts';

const AS_UTF_8 = {
  code: 'other-encoding',
  fix: 'Read, sign and write the body as UTF-8 on both sides, or better as bytes: a reader, a database connection or a file has another character set',
} as const;

const NORMALIZED = {
  code: 'other-encoding',
  fix: 'Sign the bytes that are sent: a file system (macOS), a database or a library writes the accents of letters in another Unicode form',
} as const;

const windows1252 = new TextDecoder('windows-1252');

/** Encodings other than correct UTF-8: other character sets, UTF-8 twice, Unicode forms. They leave ASCII unchanged. */
export const CHARACTER_SETS: readonly Codec[] = withMeaning(AS_UTF_8, [
  {
    name: 'UTF-8 twice, because it was taken for Latin-1',
    encode: ({ bytes }) => (isUtf8(bytes) ? bytes.toString('latin1') : undefined),
    decode: ({ text }) =>
      utf8Of(
        text,
        (all) => Buffer.from(all, 'latin1'),
        (bytes) => bytes.toString('latin1'),
      ),
    cost: 1,
    received: {
      code: 'latin-1',
      fix: 'Read the body as UTF-8, or better as bytes: requests.text, a database connection and an old editor take it for Latin-1',
    },
  },
  {
    name: 'UTF-8 twice, because it was taken for windows-1252',
    encode: ({ bytes }) => (isUtf8(bytes) ? windows1252.decode(bytes) : undefined),
    decode: ({ text }) => utf8Of(text, inWindows1252, (bytes) => windows1252.decode(bytes)),
    received: { code: 'latin-1', fix: 'Read the body as UTF-8, or better as bytes' },
  },
  {
    name: 'Latin-1',
    encode: ({ text }) => Buffer.from(text, 'latin1'),
    // Decodes windows-1252, which has all printable characters of Latin-1 and more.
    decode: ({ bytes }) => (isUtf8(bytes) || !isPlainText(bytes) ? undefined : windows1252.decode(bytes)),
    received: {
      code: 'latin-1',
      fix: 'Read and write the body as UTF-8, or better as bytes: latin1 and windows-1252 are the default of some databases, editors and requests.text',
    },
  },
  { name: 'windows-1252', encode: ({ text }) => inWindows1252(text) },
  {
    name: 'ASCII, with ? for other characters',
    encode: ({ text }) => text.replaceAll(/[^\0-\x7f]/gu, '?'),
  },
  {
    name: 'ASCII, with ? for other characters, two for an emoji',
    encode: ({ text }) => text.replaceAll(/[^\0-\x7f]/g, '?'),
  },
  { name: 'ASCII, without other characters', encode: ({ text }) => text.replaceAll(/[^\0-\x7f]/g, '') },
  { name: 'UTF-8, with U+FFFD for what is not UTF-8', encode: ({ text }) => text },
  { name: 'Unicode form NFC', encode: (plain) => normalized(plain, 'NFC'), signed: NORMALIZED },
  { name: 'Unicode form NFD', encode: (plain) => normalized(plain, 'NFD'), signed: NORMALIZED },
]);

/** Encodings in UTF-16. Unlike CHARACTER_SETS, they also change ASCII. */
export const UTF_16: readonly Codec[] = withMeaning(AS_UTF_8, [
  {
    name: 'UTF-16 with a byte order mark and CRLF at its end, as Out-File of PowerShell writes it',
    cost: 3,
    encode: ({ text }) => Buffer.from(`\ufeff${text}\r\n`, 'utf16le'),
    bodyCost: 2,
  },
  {
    name: 'UTF-16',
    cost: 3,
    encode: ({ text }) => Buffer.from(text, 'utf16le'),
    decode: ({ bytes }) => utf16Text(bytes),
    received: {
      code: 'utf-16',
      fix: 'Keep the body as the bytes that came: PowerShell writes UTF-16 with >, Out-File without -Encoding utf8 and Set-Content do too',
    },
  },
  {
    name: 'UTF-16 with a byte order mark',
    cost: 3,
    encode: ({ text }) => Buffer.from(`\ufeff${text}`, 'utf16le'),
  },
  { name: 'big-endian UTF-16', cost: 3, encode: ({ text }) => Buffer.from(text, 'utf16le').swap16() },
]);

/** Restores the UTF-8 bytes of a text that was decoded from the wrong character set. Undefined for other texts. */
function utf8Of(
  text: string,
  write: (text: string) => Buffer,
  read: (bytes: Buffer) => string,
): Buffer | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return undefined;
  const bytes = write(text);
  return isUtf8(bytes) && read(bytes) === text ? bytes : undefined;
}

/** Encodes a text in windows-1252, with ? for characters that it does not have. */
function inWindows1252(text: string): Buffer {
  byteOfCharacter ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [windows1252.decode(Uint8Array.of(byte)), byte]),
  );
  return Buffer.from(Array.from(text, (each) => byteOfCharacter?.get(each) ?? 0x3f));
}

let byteOfCharacter: ReadonlyMap<string, number> | undefined;

/** Number of bytes to check at the start of a body, in order to tell text from binary data. */
const LOOKED_AT = 65_536;

/** Whether bytes may be text in a one-byte encoding: the first LOOKED_AT have no control characters but white space. */
function isPlainText(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

/**
 * Matches more combining marks in a row than any language uses (UAX #15, Stream-Safe Text Format). Text with such a run
 * is not normalized, because sorting the marks takes quadratic time: minutes for a megabyte.
 */
const MANY_MARKS = /\p{M}{31}/u;

function normalized({ text }: Written, form: 'NFC' | 'NFD'): Bytes | undefined {
  return MANY_MARKS.test(text) ? undefined : text.normalize(form);
}

/**
 * Decodes UTF-16 and removes its byte order mark. Undefined for fewer than four bytes, and for bytes that begin neither
 * with a byte order mark nor with two characters of Latin-1.
 */
function utf16Text(bytes: Buffer): string | undefined {
  if (bytes.length < 4) return undefined;
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (second === 0 && fourth === 0 && first * third > 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && third === 0 && second * fourth > 0);
  if (!isLittle && !isBig) return undefined;
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const little = isBig ? Buffer.from(even).swap16() : even;
  return little.toString('utf16le').replace(/^\ufeff/, '');
}
