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

/** Character sets other than UTF-8. They change only what is not all ASCII. */
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
    // All bytes that are characters of Latin-1 are the same ones in windows-1252, which has more.
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

/** The encodings in UTF-16. Unlike the other character sets, they change ASCII. */
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

/** Returns the UTF-8 bytes of a text that was decoded in another character set; undefined if it was not. */
function utf8Of(
  text: string,
  write: (text: string) => Buffer,
  read: (bytes: Buffer) => string,
): Buffer | undefined {
  if (/^[\0-\x7f]*$/.test(text)) return undefined;
  const bytes = write(text);
  return isUtf8(bytes) && read(bytes) === text ? bytes : undefined;
}

/** Encodes a text in windows-1252, with ? for other characters. */
function inWindows1252(text: string): Buffer {
  byteOfCharacter ??= new Map(
    Array.from({ length: 256 }, (_, byte) => [windows1252.decode(Uint8Array.of(byte)), byte]),
  );
  return Buffer.from(Array.from(text, (each) => byteOfCharacter?.get(each) ?? 0x3f));
}

let byteOfCharacter: ReadonlyMap<string, number> | undefined;

/** Number of bytes at the start of a body that show whether the body is text or binary data. */
const LOOKED_AT = 65_536;

/** Whether bytes have no control characters except white space, so that they may be text in a one-byte encoding. */
function isPlainText(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

/**
 * Matches more combining marks in a row than any language has (UAX #15, Stream-Safe Text Format). Sorting them takes time
 * quadratic in their number: minutes for a megabyte.
 */
const MANY_MARKS = /\p{M}{31}/u;

function normalized({ text }: Written, form: 'NFC' | 'NFD'): Bytes | undefined {
  return MANY_MARKS.test(text) ? undefined : text.normalize(form);
}

/** Decodes UTF-16, without its byte order mark. Undefined if the first four bytes are not UTF-16. */
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
