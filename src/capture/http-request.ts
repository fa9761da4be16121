import { InputError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { Capture, HeaderPair } from './capture.ts';
import { toCapture } from './to-capture.ts';

const REQUEST_LINE = /^([A-Z][A-Z-]*) (\S+) HTTP\/\d(?:\.\d)?$/;
/** A header (RFC 9110, 5.6.2 and 5.5): a token, a colon, a value. */
// eslint-disable-next-line no-control-regex -- a tab is the one control character allowed
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e\x80-\xff]*)$/;
/** Matches the end of the last header line with the blank line after it, or the end of a text without a blank line. */
const HEAD_END = /\r?\n\r?(?:\n|$)|\r?$/;
const HINT =
  'a raw HTTP request is a request line, headers, a blank line and the body; --format raw takes the input as the body itself';

/** Says which method or header HTTP does not allow, such as a header with a line break. Undefined if it allows all. */
export function requestProblem(method: string, headers: readonly HeaderPair[]): string | undefined {
  const wrong = [[method, ''], ...headers].find((each) => !HEADER.test(each.join(':')));
  return wrong && `HTTP does not allow its method or header ${printable(wrong[0] ?? '', 40)}`;
}

/** Whether bytes begin like a raw HTTP request. */
export function isHttpRequest(bytes: Uint8Array): boolean {
  return REQUEST_LINE.test(headOf(bytes).first);
}

/**
 * Reads a raw HTTP/1 request, with lines ended by CRLF or LF, as a capture. The body follows the blank line; its length is
 * Content-Length, if present. Throws InputError with the line if the request is malformed.
 */
export function readHttpRequest(bytes: Uint8Array): Capture {
  const { first, lines, bodyStart } = headOf(bytes);
  const [, method, url] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || url === undefined) {
    throw requestError(1, 'Expected a request line, got', first);
  }
  const headers = lines.map((line, at) => readHeader(line, at + 2));
  const body = readBody(bytes.subarray(bodyStart), headers);
  return toCapture({ method, url, headers, body });
}

function readHeader(line: string, number: number): HeaderPair {
  // Folded lines are rejected (RFC 9112, 5.2), because two readers could see different values.
  if (/^[ \t]/.test(line)) throw requestError(number, 'Expected a header, got a folded line:', line);
  const [, name, value] = HEADER.exec(line) ?? [];
  if (name === undefined || value === undefined) throw requestError(number, 'Expected a header, got', line);
  return [name, withoutSpaceAround(value)];
}

/** Trims only spaces and tabs, unlike trim(), because a Latin-1 no-break space belongs to the value. */
function withoutSpaceAround(value: string): string {
  let [start, end] = [0, value.length];
  const isSpace = (index: number): boolean => value[index] === ' ' || value[index] === '\t';
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return value.slice(start, end);
}

function readBody(rest: Uint8Array, headers: readonly HeaderPair[]): Uint8Array {
  const valueOf = (wanted: string): string | undefined =>
    headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
  if (valueOf('transfer-encoding') !== undefined) {
    throw new InputError('A raw HTTP request with Transfer-Encoding cannot be read', {
      hint: 'save only the body, and pass the signature with --signature',
    });
  }
  const length = valueOf('content-length');
  if (length === undefined) return rest;
  const expected = /^\d+$/.test(length) ? Number(length) : Number.NaN;
  // A newline after the body is dropped, because editors end a saved file with one that the request did not have.
  const surplus = Buffer.from(rest.subarray(expected)).toString('latin1').trim();
  if (rest.length >= expected && surplus === '') return rest.subarray(0, expected);
  throw new InputError(
    `Content-Length is ${printable(length, 40)}, but ${rest.length} bytes follow the headers`,
    {
      hint: 'save the request again, or remove the Content-Length line to take everything after the blank line as the body',
    },
  );
}

/** Reads the request line and the headers as Latin-1, which preserves every byte. */
function headOf({ buffer, byteOffset, byteLength }: Uint8Array) {
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('latin1');
  const [end = ''] = HEAD_END.exec(text) ?? [];
  const head = text.slice(0, text.search(HEAD_END));
  const [first = '', ...lines] = head.split(/\r?\n/);
  return { first, lines, bodyStart: head.length + end.length };
}

function requestError(line: number, what: string, got: string): InputError {
  return new InputError(`Line ${line}: ${what} "${printable(got, 60)}"`, { line, hint: HINT });
}
