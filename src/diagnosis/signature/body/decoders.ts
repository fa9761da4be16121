import { isUtf8 } from 'node:buffer';
import { stringified } from '../../../signature/body/json-text.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import { isObject } from '../../../validate-options.ts';

// Decoders that recover the original bytes from a changed body (base64, UTF-16), and tests of whether a body was changed.

/** Removes the chunk lengths from a chunked body (RFC 9112, 7.1). */
export function unchunked(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const start = body.indexOf('\n', at) + 1;
    const length = Number.parseInt(body.toString('latin1', at, start), 16);
    if (start === 0 || !(length > 0)) break;
    chunks.push(body.subarray(start, start + length));
    const end = body.indexOf('\n', start + length);
    at = end < 0 ? body.length : end + 1;
  }
  return Buffer.concat(chunks);
}

/** Decodes JSON from base64, as text or as a JSON string. */
export function base64Json({ head, bytes }: KeptBody): Buffer | undefined {
  if (!/^["\s]*(?:e[wy]|W[wy13])[\w+/-]+/.test(head)) return undefined;
  return asJson(Buffer.from(bytes.toString('latin1').replaceAll('"', ''), 'base64'));
}

/** Decodes JSON from hex, which PostgreSQL shows after \\x and others after 0x. */
export function hexJson({ head, bytes }: KeptBody): Buffer | undefined {
  if (!/^["\s]*(?:\\x|0x)?(?:7b|5b)(?:[0-9a-f]{2})+/i.test(head)) return undefined;
  return asJson(Buffer.from(bytes.toString('latin1').replace(/^["\s]*(?:\\x|0x)?/i, ''), 'hex'));
}

function asJson(bytes: Buffer): Buffer | undefined {
  const ends = bytes.toString('latin1', 0, 64) + bytes.subarray(-64).toString('latin1');
  return /^\s*[[{][\s\S]*[\]}]\s*$/.test(ends) ? bytes : undefined;
}

export function utf16Order(bytes: Buffer): 'le' | 'be' | undefined {
  if (bytes.length < 4) return undefined;
  const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (second === 0 && fourth === 0 && first * third > 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && third === 0 && second * fourth > 0);
  return isLittle ? 'le' : isBig ? 'be' : undefined;
}

/** Decodes UTF-16, without its byte order mark. */
export function utf16Text(bytes: Buffer): string {
  const even = bytes.subarray(0, bytes.length - (bytes.length % 2));
  const little = utf16Order(bytes) === 'be' ? Buffer.from(even).swap16() : even;
  return little.toString('utf16le').replace(/^\ufeff/, '');
}

/** Number of bytes at the start of a body that show whether the body is text or binary data. */
const LOOKED_AT = 65_536;

/** Whether bytes have no control characters except white space, so that they may be text in a one-byte encoding. */
export function isPlainText(bytes: Buffer): boolean {
  return bytes.subarray(0, LOOKED_AT).every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

export function windowsText(bytes: Buffer): string {
  return new TextDecoder('windows-1252').decode(bytes);
}

/** Whether bytes are UTF-8 except that the last character is cut off. */
export function isCutCharacter(bytes: Buffer): boolean {
  const tail = [1, 2, 3].find((length) => (bytes.at(-length) ?? 0) >= 0xc2);
  const [lead = 0] = tail === undefined ? [] : bytes.subarray(-tail);
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return tail !== undefined && tail < length && isUtf8(bytes.subarray(0, -tail));
}

export function charactersLost({ text }: KeptBody): boolean {
  return text?.includes('\ufffd') === true;
}

/** Recovers UTF-8 that was taken for Latin-1 and encoded a second time. */
export function twiceEncoded({ text }: KeptBody): Buffer | undefined {
  if (text === undefined || !/[^\0-\x7f]/.test(text)) return undefined;
  const once = Buffer.from(text, 'latin1');
  return once.toString('latin1') === text && isUtf8(once) ? once : undefined;
}

/** The JSON at the start of a body that continues with other text after it. */
export function jsonThenMore({ text, problem }: KeptBody): string | undefined {
  // Requires an object or an array at the start: a date or a list of bytes begins with a number, which is JSON but not a
  // message.
  const isMessage = problem?.isAfterEnd === true && /^\s*[[{]/.test(text ?? '');
  return isMessage ? text?.slice(0, problem.at).trimEnd() : undefined;
}

/**
 * The JSON at the end of a body that begins with other text, such as a line of a log. Undefined if the body begins like an
 * encoded form (`payload=…`).
 */
export function jsonAfterText({ text, problem }: KeptBody): string | undefined {
  if (text === undefined || problem === undefined || /^[\w.-]+=/.test(text)) return undefined;
  const at = text.search(/\{\s*"|\[\s*\{/);
  const json = text.slice(at).trim();
  return at > 0 && stringified(json) !== undefined ? json : undefined;
}

/** Maximum bytes of a list to decode: enough for a message with spaces. A list of 4 MB takes 170 ms. */
const LONGEST_LIST = 256 * 1024;

/** The bytes whose decimal values a text lists: `123,34,116`. */
export function listedBytes({ head, text, bytes }: KeptBody): Buffer | undefined {
  if (bytes.length > LONGEST_LIST || !/^\s*\[?\s*\d{1,3}(?:\s*,\s*\d{1,3}){3}/.test(head)) return undefined;
  const values = text?.replaceAll(/[[\]\s]/g, '').split(',') ?? [];
  return values.every((each) => /^\d{1,3}$/.test(each)) ? asJson(Buffer.from(values.map(Number))) : undefined;
}

/** The JSON of the object that a body wraps as its only member: `body`, `payload`, `rawBody` and the like. */
export function onlyObject({ value }: KeptBody): string | undefined {
  if (!isObject(value)) return undefined;
  const [key = '', ...others] = Object.keys(value);
  const isBody = others.length === 0 && /^(?:raw)?_?(?:body|payload)$/i.test(key);
  return isBody && typeof value[key] === 'object' ? JSON.stringify(value[key]) : undefined;
}

/** First bytes of gzip, Zstandard and zlib (with its usual levels), in hex. */
const MAGIC = ['1f8b', '28b52ffd', '7801', '785e', '789c', '78da'];

export function isPacked(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 4);
  return MAGIC.some((magic) => start.startsWith(magic));
}
