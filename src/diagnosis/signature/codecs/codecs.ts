import { createHash } from 'node:crypto';
import { FIXES } from '../../../signature/reasons.ts';
import { replaced } from '../change.ts';
import { UTF_16 } from './character-sets.ts';
import type { Codec } from './codec.ts';
import { parsedString, pythonBytesText, pythonText, unpackedBytes, urlDecoded } from './codec-texts.ts';

/** Encodings to try for secrets as well as bodies: text forms of bytes, and UTF-16. */
export const BYTE_CODECS: readonly Codec[] = [
  {
    name: 'base64',
    encode: ({ bytes }) => bytes.toString('base64'),
    decode: ({ text }) =>
      /^[\w+/-][\w+/\s-]*={0,2}\r?\n?$/.test(text) ? Buffer.from(text, 'base64') : undefined,
    received: 'encoded-body',
  },
  {
    // PostgreSQL writes \x before the hex digits of binary data, and other programs write 0x.
    name: 'hex',
    encode: ({ bytes }) => bytes.toString('hex'),
    decode: ({ text }) => {
      const digits = /^(?:\\x|0x)?((?:[0-9a-f]{2})+)\s*$/i.exec(text)?.[1];
      return digits && Buffer.from(digits, 'hex');
    },
    received: 'encoded-body',
  },
  { name: 'the text that Python prints for bytes', encode: ({ bytes }) => pythonBytesText(bytes), cost: 1 },
  ...UTF_16,
];

/** Compression and hashing. They are not tried for secrets, which are too short to be worth compressing. */
export const BODY_CODECS: readonly Codec[] = [
  {
    name: 'gzip or zlib',
    encode: ({ bytes }) => process.getBuiltinModule('node:zlib').gzipSync(bytes),
    decode: unpackedBytes,
    cost: 3,
    received: 'gzip',
    fix: FIXES.gzip,
  },
  {
    // Services that sign the method and path often sign this hash instead of the body, as AWS Signature Version 4 does.
    name: 'the hex of its SHA-256',
    encode: ({ bytes }) => createHash('sha256').update(bytes).digest('hex'),
    cost: 1,
  },
  {
    name: 'the text that Python prints for it',
    encode: ({ text }) => pythonText(text),
    signed: 'object-text',
  },
];

/** Percent-encoding in the styles of JavaScript's `encodeURIComponent`, Python's `quote` and HTML forms. */
export const PERCENT_ENCODINGS: readonly Codec[] = [
  {
    name: 'a URL component',
    encode: ({ text }) => encodeURIComponent(text.trim()),
    decode: ({ text }) => urlDecoded(text, '+'),
    signed: 'url-encoded',
  },
  {
    name: 'a URL path',
    encode: ({ text }) => encodeURIComponent(text.trim()).replaceAll('%2F', '/'),
    signed: 'url-encoded',
  },
  {
    name: 'a form value',
    encode: ({ text }) => encodeURIComponent(text.trim()).replaceAll('%20', '+'),
    decode: ({ text }) => urlDecoded(text, ' '),
    signed: 'url-encoded',
  },
];

/** The field of a form that holds the whole message, as GitHub sends it. */
export const FORM_FIELDS: readonly Codec[] = PERCENT_ENCODINGS.map(({ encode }) => ({
  name: 'the form field "payload"',
  encode: (plain) => `payload=${String(encode?.(plain))}`,
  signed: 'url-encoded',
}));

/** Ways to escape quotes, line breaks, tabs or slashes, as in JSON strings and in arguments of `echo`. */
export const ESCAPES: readonly Codec[] = [
  {
    name: 'a JSON string',
    encode: ({ text }) => JSON.stringify(text),
    decode: ({ text }) => (text.startsWith('"') ? parsedString(text) : undefined),
    fix: 'Stringify the message once: a client that gets a text to send as JSON (axios, requests json=) stringifies it again',
  },
  {
    name: 'a JSON string without its quotes',
    encode: ({ text }) => JSON.stringify(text).slice(1, -1),
    decode: ({ text }) => (text.includes('\\') ? parsedString(`"${text}"`) : undefined),
  },
  {
    name: 'text with \\n and \\t for white space, which echo of many shells decodes',
    encode: ({ text }) => replaced(text, /\n/g, '\\n')?.replaceAll('\t', '\\t'),
    decode: ({ text }) => replaced(text, /\\n/g, '\n')?.replaceAll('\\t', '\t'),
  },
  {
    name: 'text with \\/ for slashes',
    encode: ({ text }) => replaced(text, /\//g, '\\/'),
    decode: ({ text }) => replaced(text, /\\\//g, '/'),
  },
  {
    name: 'text with typographic quotes or dashes',
    decode: ({ text }) => inAscii(text),
    fix: 'Give the body as it came: a chat, a word processor or a page replaced its quotes',
  },
];

/** Replaces typographic quotes and dashes, which chat programs and word processors insert, with ASCII characters. */
function inAscii(text: string): string {
  return text
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"')
    .replaceAll(/[\u2010-\u2015\u2212]/g, '-');
}
