import { InputError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../message/types.ts';
import { captureBody, type Capture } from '../capture.ts';
import { isHttpRequest, readHttpRequest } from '../http-request.ts';
import { isCapture, isHar, readCapture } from '../read-capture.ts';
import type { ReadNamedFile } from './curl-request.ts';
import { curlRequests, isCurlScript, calledProgram } from './curl-script.ts';
import { HarReader } from './har-reader.ts';
import { statedLength, type Imported } from './imported.ts';
import { jsonWithin, parsedJson, requestsIn } from './request-object.ts';

export type { Imported, ImportedRequest } from './imported.ts';

/** Maximum size of a file that is not a HAR file. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Matches the members of a capture. */
const OF_A_CAPTURE = /^(?:capture|at|method|url|headers|body|bodyBase64|verdict|redacted)$/;

/**
 * Finds the requests in a file of another tool, recognized by its content: a HAR file, curl commands, a raw HTTP request, or
 * JSON that holds requests, also one object a line, as logs have it. A request whose exact bytes are unknown is rejected. Throws
 * InputError if the file is none of these. `onSanitized` is called for a HAR file that Chrome wrote without secrets.
 */
export async function* importRequests(
  chunks: AsyncIterable<Uint8Array>,
  readFile: ReadNamedFile,
  onSanitized: () => void = () => {},
): AsyncGenerator<Imported> {
  const iterator = chunks[Symbol.asyncIterator]();
  const first = await iterator.next();
  const head: Uint8Array = first.done ? Buffer.alloc(0) : first.value;
  const rest = { [Symbol.asyncIterator]: () => iterator };
  if (isHar(head)) yield* harRequests(head, rest, onSanitized);
  else yield* wholeFile(await joined(head, rest), readFile);
}

async function* harRequests(
  head: Uint8Array,
  rest: AsyncIterable<Uint8Array>,
  onSanitized: () => void,
): AsyncGenerator<Imported> {
  const found: Imported[] = [];
  const reader = new HarReader((each) => found.push(each));
  reader.push(head);
  yield* found.splice(0);
  for await (const chunk of rest) {
    reader.push(chunk);
    yield* found.splice(0);
  }
  const problem = reader.end();
  if (reader.isSanitized) onSanitized();
  if (problem !== undefined) yield { kind: 'rejected', what: `line ${reader.line}`, reason: problem };
}

async function joined(head: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts = [head];
  let bytes = head.length;
  for await (const chunk of rest) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes <= MOST_BYTES) continue;
    throw new InputError('Expected at most 64 MiB, unless it is a HAR file, got more', {
      hint: 'split the file',
    });
  }
  return Buffer.concat(parts);
}

async function* wholeFile(bytes: Buffer, readFile: ReadNamedFile): AsyncGenerator<Imported> {
  if (isHttpRequest(bytes)) {
    yield asImported('the request', () => rawRequest(bytes));
    return;
  }
  const text = bytes.toString();
  const whole = parsedJson(text);
  if (whole !== undefined) yield* foundIn(whole);
  else if (isCurlScript(text)) yield* curlRequests(bytes, readFile);
  else yield* requestsInLines(text);
}

/** A raw request. Files of HTTP clients separate requests by lines of ###, which only a length shows to be a part of a body. */
function rawRequest(bytes: Buffer): Capture {
  const request = readHttpRequest(bytes);
  if (statedLength(request.headers) !== undefined || !bytes.includes('\n###')) return request;
  throw new InputError(
    'It has no Content-Length, and a line with ###, which separates requests in a .http file',
  );
}

/** The request of a capture. A capture that cannot be read is rejected without the hint, which names flags of other verbs. */
function asImported(what: string, read: () => Capture): Imported {
  try {
    const { at, ...capture } = read();
    const request = {
      ...capture,
      at: at === undefined ? undefined : Date.parse(at),
      body: captureBody({ ...capture }),
    };
    return request.body.length === 0 ? { kind: 'skipped' } : { kind: 'request', request };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return { kind: 'rejected', what, reason: error.message };
  }
}

function* requestsInLines(text: string): Generator<Imported> {
  let [hasJson, hasRequest] = [false, false];
  for (const [index, line] of text.split('\n').entries()) {
    const value = line.includes('{') ? jsonWithin(line) : undefined;
    hasJson ||= value !== undefined;
    for (const found of value === undefined ? [] : foundIn(value)) {
      hasRequest = true;
      yield found;
    }
    if (value === undefined && hasJson && (line.includes('{') || calledProgram(line) !== undefined)) {
      yield { kind: 'rejected', what: `line ${index + 1}`, reason: 'the line is not JSON' };
    }
  }
  const [, got, hint] = NOT_READ.find(([pattern]) => pattern.test(text)) ?? [];
  // Another format can have lines of JSON, such as the bodies in a .http file.
  if (hasRequest || (hasJson && got === undefined)) return;
  const expected = 'Expected a HAR file, curl commands, a raw HTTP request or JSON that holds requests';
  throw new InputError(got === undefined ? expected : `${expected}, got ${got}`, {
    hint:
      hint ??
      'export the requests as one of these; hooks replay and hooks redact also read messages, such as a track',
  });
}

/** Formats that are not read, with their names and hints. */
const NOT_READ: readonly (readonly [RegExp, string, string])[] = [
  [/^\s*$/, 'an empty file', 'record the requests again'],
  [/^[^\0]{0,3}\0/, 'text in UTF-16', 'save it as UTF-8; > of Windows PowerShell 5 writes UTF-16'],
  [
    /\b(?:Invoke-WebRequest|Invoke-RestMethod)\b/i,
    'a command of PowerShell',
    'copy the request as cURL, or save a HAR file',
  ],
  [/^\s*(?:await )?fetch\(/, 'a call of fetch', 'copy the request as cURL, or save a HAR file'],
  [
    /^(?:GET|POST|PUT|PATCH|DELETE) \S+(?: HTTP\/[\d.]+)?\r?$/m,
    'a .http file',
    'save each request as raw HTTP in a file of its own, or copy it as cURL',
  ],
];

/** The requests in a value. Captures are kept as they are. */
function* foundIn(value: JsonValue): Generator<Imported> {
  if (isJsonArray(value) && value.some(isCapture)) {
    for (const each of value) yield* foundIn(each);
  } else if (isJsonObject(value) && isCapture(value)) {
    const found = asImported('a capture', () => readCapture(value));
    const others = Object.entries(value).filter(([key]) => !OF_A_CAPTURE.test(key));
    if (found.kind !== 'request' || others.length === 0) yield found;
    else {
      const request = { ...found.request, others: JSON.stringify(Object.fromEntries(others)) };
      yield { kind: 'request', request };
    }
  } else {
    yield* requestsIn(value);
  }
}
