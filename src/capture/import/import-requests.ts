import { InputError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../message/types.ts';
import { captureBody, type Capture } from '../capture.ts';
import { isHttpRequest, readHttpRequest } from '../http-request.ts';
import { isCapture, isHar, readCapture } from '../read-capture.ts';
import type { ReadNamedFile } from './curl-request.ts';
import { curlRequests, isCurlScript, calledProgram } from './curl-script.ts';
import { HarReader } from './har-reader.ts';
import type { Imported } from './imported.ts';
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
    yield asImported('the request', () => readHttpRequest(bytes));
    return;
  }
  const text = bytes.toString();
  const whole = parsedJson(text);
  if (whole !== undefined) yield* foundIn(whole);
  else if (isCurlScript(text)) yield* curlRequests(bytes, readFile);
  else yield* requestsInLines(text);
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
  let hasJson = false;
  for (const [index, line] of text.split('\n').entries()) {
    const value = line.includes('{') ? jsonWithin(line) : undefined;
    hasJson ||= value !== undefined;
    if (value !== undefined) yield* foundIn(value);
    else if (hasJson && (line.includes('{') || calledProgram(line) !== undefined)) {
      yield { kind: 'rejected', what: `line ${index + 1}`, reason: 'the line is not JSON' };
    }
  }
  if (hasJson) return;
  throw new InputError('Expected a HAR file, curl commands, a raw HTTP request or JSON that holds requests', {
    hint: 'export the requests as one of these; hooks replay and hooks redact also read messages, such as a track',
  });
}

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
