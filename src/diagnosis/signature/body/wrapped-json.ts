import { stringified } from '../../../signature/body/json-text.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';

// Functions that extract the right body from one that wraps it. They return undefined for bodies that do not.

/** Removes the chunk lengths from a chunked body (RFC 9112, 7.1). */
export function unchunked({ bytes: body, head }: KeptBody): Buffer | undefined {
  if (!/^[0-9a-f]{1,8}(?:;[^\r\n]*)?\r?\n/i.test(head)) return undefined;
  if (!/\n0\r?\n\s*$/.test(body.subarray(-16).toString('latin1'))) return undefined;
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

/** The JSON object or list at the start of a body that continues after it. */
export function jsonThenMore({ text, problem }: KeptBody): string | undefined {
  // Requires an object or an array, because a date or a list of bytes begins with a number, which is JSON, too.
  const isMessage = problem?.isAfterEnd === true && /^\s*[[{]/.test(text ?? '');
  return isMessage ? text?.slice(0, problem.at).trimEnd() : undefined;
}

/**
 * The JSON at the end of a body that begins with other text, as a log line does. Undefined if the body begins like an
 * encoded form (`payload=…`).
 */
export function jsonAfterText({ text, problem }: KeptBody): string | undefined {
  if (text === undefined || problem === undefined || /^[\w.-]+=/.test(text)) return undefined;
  const at = text.search(/\{\s*"|\[\s*\{/);
  const json = text.slice(at).trim();
  return at > 0 && stringified(json) !== undefined ? json : undefined;
}
