import { stringified } from '../../../signature/body/json-text.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';

// Functions that extract the original body from a body that wraps it. They return undefined if nothing is wrapped.

/** Joins the chunks of a body in chunked transfer coding (RFC 9112, section 7.1). Undefined for other bodies. */
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

/** The JSON object or list at the start of a body that has other text after it. Undefined for other bodies. */
export function jsonThenMore({ text, problem }: KeptBody): string | undefined {
  // Requires an object or an array: a date such as 2024-01-01 also begins with complete JSON, the number 2024.
  const isMessage = problem?.isAfterEnd === true && /^\s*[[{]/.test(text ?? '');
  return isMessage ? text?.slice(0, problem.at).trimEnd() : undefined;
}

/**
 * The JSON object or list of objects at the end of a body that begins with other text, as a log line does. Undefined
 * if there is none, or if the body begins like a form (`payload=…`).
 */
export function jsonAfterText({ text, problem }: KeptBody): string | undefined {
  if (text === undefined || problem === undefined || /^[\w.-]+=/.test(text)) return undefined;
  const at = text.search(/\{\s*"|\[\s*\{/);
  const json = text.slice(at).trim();
  return at > 0 && stringified(json) !== undefined ? json : undefined;
}
