import { InputError } from '../errors.ts';
import { isObject } from '../validate-options.ts';
import { printable } from '../redact.ts';
import { CAPTURED_VERDICTS } from './capture.ts';
import { requestProblem } from './http-request.ts';
import type { Capture, CapturedBody, CapturedVerdict, HeaderPair } from './capture.ts';

/**
 * Whether a JSON value is meant as a capture; `readCapture` validates it. Requires a part of a request besides `capture`,
 * because a message can have a field of that name.
 */
export function isCapture(value: unknown): boolean {
  if (!isObject(value) || typeof value['capture'] !== 'number') return false;
  return 'headers' in value || 'method' in value || 'bodyBase64' in value;
}

/** Whether a file begins like a HAR file, the log of a browser or a proxy. */
export function isHar(head: Uint8Array): boolean {
  return /^\u{FEFF}?\s*\{\s*"log"\s*:/u.test(Buffer.from(head.subarray(0, 200)).toString());
}

/** Reads a capture: validates its fields and drops all others. Throws InputError with the name of the invalid field. */
export function readCapture(value: unknown): Capture {
  if (!isObject(value)) throw captureError('one JSON object', value);
  if (value['capture'] !== 1) throw captureError('`capture` to be 1', value['capture']);
  const { at, verdict, redacted } = value;
  const capture: Capture = {
    capture: 1,
    ...(at === undefined ? {} : { at: readTime(at) }),
    method: readText(value, 'method'),
    url: readText(value, 'url'),
    headers: readHeaders(value['headers']),
    ...readBody(value),
    ...(verdict === undefined ? {} : { verdict: readVerdict(verdict) }),
    ...(typeof redacted === 'string' ? { redacted } : {}),
  };
  const problem = requestProblem(capture.method, capture.headers);
  if (problem === undefined) return capture;
  throw new InputError(`The capture cannot be sent: ${problem}`, { hint: 'record the request again' });
}

function readText(from: Readonly<Record<string, unknown>>, key: string): string {
  const value = from[key];
  if (typeof value !== 'string' || value === '') throw captureError(`\`${key}\` to be a string`, value);
  return value;
}

function readTime(at: unknown): string {
  const readable = typeof at === 'string' && /^\d{4}-\d\d-\d\dT/.test(at) && !Number.isNaN(Date.parse(at));
  if (!readable) throw captureError('`at` to be an ISO 8601 time', at);
  return at;
}

function readVerdict(value: unknown): CapturedVerdict {
  const verdict = CAPTURED_VERDICTS.find((each) => each === value);
  if (verdict === undefined) {
    throw captureError(`\`verdict\` to be one of ${CAPTURED_VERDICTS.join(', ')}`, value);
  }
  return verdict;
}

function readHeaders(value: unknown): HeaderPair[] {
  if (!Array.isArray(value)) throw captureError('`headers` to be a list of [name, value]', value);
  return value.map((pair: unknown, index) => {
    if (!isHeaderPair(pair)) {
      throw captureError(`\`headers[${index}]\` to be [name, value], both strings`, pair);
    }
    return pair;
  });
}

export function isHeaderPair(pair: unknown): pair is HeaderPair {
  return Array.isArray(pair) && pair.length === 2 && pair.every((part) => typeof part === 'string');
}

function readBody({ body, bodyBase64 }: Readonly<Record<string, unknown>>): CapturedBody {
  if (body !== undefined && bodyBase64 !== undefined) {
    throw new InputError('Expected `body` or `bodyBase64` in the capture, got both', {
      hint: 'keep `body` when the bytes are valid UTF-8, else `bodyBase64`',
    });
  }
  if (bodyBase64 !== undefined) return { bodyBase64: readBase64(bodyBase64) };
  if (typeof body !== 'string') throw captureError('`body` or `bodyBase64` to be a string', body);
  // A lone surrogate has no UTF-8: Node would encode U+FFFD instead, and the signature would not match for no visible
  // reason.
  if (/\p{Surrogate}/u.test(body)) throw captureError('`body` to be well-formed text', 'a lone surrogate');
  return { body };
}

/**
 * Reads only canonical base64. Node skips invalid characters without an error, so that other bytes than those written would
 * be verified.
 */
function readBase64(value: unknown): string {
  const canonical = typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value;
  if (!canonical) throw captureError('`bodyBase64` to be padded base64', value);
  return value;
}

function captureError(expected: string, got: unknown): InputError {
  // The cast adds `undefined`, which JSON.stringify returns for a missing field.
  const shown = (JSON.stringify(got) as string | undefined) ?? 'nothing';
  return new InputError(`Expected ${expected} in the capture, got ${printable(shown, 60)}`, {
    hint: 'a capture is {"capture":1,"at","method","url","headers":[[name,value]…],"body" or "bodyBase64"}, as `hooks listen --save` writes it',
  });
}
