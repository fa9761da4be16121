import { isUtf8 } from 'node:buffer';
import { stringified } from '../../../signature/body/json-text.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import { isObject } from '../../../validate-options.ts';

// Functions that take the right body out of a wrapped one, and tests of whether a body is damaged.

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

/** Whether bytes are UTF-8 except that the last character is cut off. */
export function isCutCharacter(bytes: Buffer): boolean {
  const tail = [1, 2, 3].find((length) => (bytes.at(-length) ?? 0) >= 0xc2);
  const [lead = 0] = tail === undefined ? [] : bytes.subarray(-tail);
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return tail !== undefined && tail < length && isUtf8(bytes.subarray(0, -tail));
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

/** The JSON of the object that a body wraps as its only member: `body`, `payload`, `rawBody` and the like. */
export function onlyObject({ value }: KeptBody): string | undefined {
  if (!isObject(value)) return undefined;
  const [key = '', ...others] = Object.keys(value);
  const isBody = others.length === 0 && /^(?:raw)?_?(?:body|payload)$/i.test(key);
  return isBody && typeof value[key] === 'object' ? JSON.stringify(value[key]) : undefined;
}
