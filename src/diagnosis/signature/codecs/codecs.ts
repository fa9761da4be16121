import { stringified } from '../../../signature/body/json-text.ts';
import { LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import { FIXES } from '../../../signature/reasons.ts';
import { UTF_16 } from './character-sets.ts';
import type { Codec, Written } from './codec.ts';

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
  UTF_16,
];

/** Encodings to try for bodies only: compression, Python's text of an object, and a form field. */
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
    name: 'the text that Python prints for it',
    encode: ({ text }) => pythonText(text),
    signed: 'object-text',
  },
  {
    name: 'the form field "payload"',
    encode: ({ text }) => new URLSearchParams({ payload: text.trim() }).toString(),
    signed: 'url-encoded',
  },
];

/** Percent-encoding in the styles of JavaScript's `encodeURIComponent`, Python's `quote` and HTML forms. */
export const PERCENT_ENCODINGS: readonly Codec[] = [
  {
    name: 'a URL component',
    encode: ({ text }) => encodeURIComponent(text.replace(/\r?\n$/, '')),
    decode: ({ text }) => urlDecoded(text, '+'),
    signed: 'url-encoded',
  },
  {
    name: 'a URL path',
    encode: ({ text }) => encodeURIComponent(text.replace(/\r?\n$/, '')).replaceAll('%2F', '/'),
    signed: 'url-encoded',
  },
  {
    name: 'a form value',
    encode: ({ text }) => encodeURIComponent(text.replace(/\r?\n$/, '')).replaceAll('%20', '+'),
    decode: ({ text }) => urlDecoded(text, ' '),
    signed: 'url-encoded',
  },
];

/** Escapes of JSON strings, and typographic quotes and dashes, which are only decoded. */
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

/** First bytes of gzip, Zstandard and zlib (with its default window size), in hex. */
const MAGIC = ['1f8b', '28b52ffd', '7801', '785e', '789c', '78da'];

export function isPacked(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 4);
  return MAGIC.some((magic) => start.startsWith(magic));
}

/** Decompresses gzip or zlib. Undefined for other or damaged bytes, or if the result would be too large. */
function unpackedBytes({ bytes }: Written): Buffer | undefined {
  if (!isPacked(bytes)) return undefined;
  // Webhook bodies of more than LARGEST_DIAGNOSED hardly ever compress to less than 1/64.
  const maxOutputLength = Math.max(LARGEST_DIAGNOSED, 64 * bytes.length);
  try {
    // Loads zlib on demand, because only diagnosing a mismatch needs it, not verifying a signature.
    return process.getBuiltinModule('node:zlib').unzipSync(bytes, { maxOutputLength });
  } catch {
    return undefined;
  }
}

/** The text that Python's `str(body)` returns for bytes: `b'…'`. Signing it is a common mistake. */
function pythonBytesText(bytes: Buffer): string {
  const quoted = pythonQuoted(bytes.toString('latin1'));
  return `b${quoted.replaceAll(/[^ -~]/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}

/** The text that Python's `str(message)` returns for parsed JSON: `{'test': True}`. Undefined if `text` is not JSON. */
function pythonText(text: string): string | undefined {
  return stringified(text)?.replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null|[,:]/g,
    (part) => PYTHON_WORDS[part] ?? pythonQuoted(JSON.parse(part) as string), // all other parts are string literals
  );
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
  ',': ', ',
  ':': ': ',
};

/** The string literal that Python's `repr(text)` returns. */
function pythonQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
}

/** The value of a JSON string literal; undefined for other texts. */
function parsedString(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Decodes percent-encoding, and each + as `plus`. Undefined for malformed text, and for text with characters that an
 * encoder would have encoded: double quotes, braces, angle brackets, or white space before other characters.
 */
function urlDecoded(text: string, plus: '+' | ' '): string | undefined {
  if (/["{}<>]|\s\S/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', plus));
  } catch {
    return undefined;
  }
}
