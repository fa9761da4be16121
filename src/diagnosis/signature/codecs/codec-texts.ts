import { LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import type { Written } from './codec.ts';

// Conversions for codecs that take more than one line.

/** Maximum characters of a list of byte values (`[123, 34, …]`): messages need fewer, and 4 MB would take 170 ms. */
const LONGEST_LIST = 256 * 1024;

/** Decodes a list of at least four decimal byte values: `123,34,116,34`. Undefined for other texts. */
export function listedBytes({ text }: Written): Buffer | undefined {
  if (text.length > LONGEST_LIST || !/^\s*\[?\s*\d{1,3}(?:[\s,]+\d{1,3}){3}/.test(text)) return undefined;
  const values = text
    .replaceAll(/[[\]]/g, '')
    .trim()
    .split(/[\s,]+/);
  return values.every((each) => /^\d{1,3}$/.test(each)) ? Buffer.from(values.map(Number)) : undefined;
}

/** First bytes of gzip, Zstandard and zlib (with its usual levels), in hex. */
const MAGIC = ['1f8b', '28b52ffd', '7801', '785e', '789c', '78da'];

export function isPacked(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 4);
  return MAGIC.some((magic) => start.startsWith(magic));
}

/** Unpacks gzip or zlib. Undefined if the bytes are neither, or are damaged, or if the result would be too large. */
export function unpackedBytes({ bytes }: Written): Buffer | undefined {
  if (!isPacked(bytes)) return undefined;
  const maxOutputLength = Math.max(LARGEST_DIAGNOSED, MOST_UNPACKED * bytes.length);
  try {
    // Loads zlib on demand, because only a diagnosis needs it.
    return process.getBuiltinModule('node:zlib').unzipSync(bytes, { maxOutputLength });
  } catch {
    return undefined;
  }
}

/**
 * Maximum ratio of unpacked to packed bytes, for results above LARGEST_DIAGNOSED. Webhook bodies of that size hardly
 * ever compress to less than 1/64.
 */
const MOST_UNPACKED = 64;

/** The text that Python prints for bytes: `str(body)`. */
export function pythonBytesText(bytes: Buffer): string {
  const quoted = pythonQuoted(bytes.toString('latin1'));
  return `b${quoted.replaceAll(/[\x7f-\xff]/g, hexEscape)}`;
}

/** The literal that Python prints for a string. */
export function pythonQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
}

function hexEscape(character: string): string {
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

/** Escapes double quotes, backslashes and all bytes other than printable ASCII: `\x22`. */
export function hexEscaped(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replaceAll(/[^ !#-[\]-~]/g, (character) => hexEscape(character).toUpperCase().replace('X', 'x'));
}

export function hexUnescaped({ text, bytes }: Written): Buffer | undefined {
  if (!/\\x[0-9a-f]{2}/i.test(text)) return undefined;
  const unescaped = bytes
    .toString('latin1')
    .replaceAll(/\\x([0-9a-f]{2})/gi, (_, digits: string) => Buffer.from(digits, 'hex').toString('latin1'));
  return Buffer.from(unescaped, 'latin1');
}

/** The value of a JSON string literal; undefined for other texts. */
export function parsedString(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Replaces &, < and > with HTML entities, and both kinds of quotes too if the entity for an apostrophe is given. */
export function entitiesEncoded(text: string, apostrophe?: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (apostrophe === undefined) return escaped;
  return escaped.replaceAll('"', '&quot;').replaceAll("'", apostrophe);
}

/** Decodes the HTML entities of quotes, <, > and &. */
export function entitiesDecoded(text: string): string {
  return text
    .replaceAll(/&#0?39;|&#x27;|&apos;/gi, "'")
    .replaceAll(/&quot;|&#34;/g, '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}

/** Percent-encodes all characters except the unreserved ones of RFC 3986. */
export function urlEncoded({ bytes }: Written): string {
  return encodeURIComponent(bytes.toString()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Decodes percent-encoding, and each + as `plus`. Undefined for malformed text, and for text with characters that an
 * encoder does not leave as they are: double quotes, braces, angle brackets, or white space before other characters.
 */
export function urlDecoded(text: string, plus: '+' | ' '): string | undefined {
  if (/["{}<>]|\s\S/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', plus));
  } catch {
    return undefined;
  }
}

/** Replaces typographic quotes, which chats and word processors write, with ASCII quotes. */
export function plainQuotes(text: string): string {
  return text.replaceAll(/[\u2018\u2019]/g, "'").replaceAll(/[\u201c-\u201f]/g, '"');
}
