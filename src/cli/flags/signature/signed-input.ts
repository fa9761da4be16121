import { createHmac } from 'node:crypto';
import { captureBody, type Capture, type HeaderPair } from '../../../capture/capture.ts';
import { isHttpRequest, readHttpRequest } from '../../../capture/http-request.ts';
import { isCapture, readCapture } from '../../../capture/read-capture.ts';
import { InputError } from '../../../errors.ts';
import type { Envelope } from '../../../capture/envelopes.ts';
import { KeptBody } from '../../../signature/body/kept-body.ts';
import type { RequestTarget } from '../../../signature/evidence.ts';
import { readBodyInput, readWholeBody, type BodySource } from './body-input.ts';
import type { Io } from '../../io.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';

/** A body and, if the input is a request, its headers. */
export interface SignedInput {
  /** HMAC-SHA1 of the body with the first secret, in hex. */
  readonly digest: string;
  readonly bytes: number;
  /** The request that contains the body; undefined for a raw body without headers. */
  readonly request?: {
    readonly body: Uint8Array;
    readonly headers: readonly HeaderPair[];
    /** When the request was received, in ms since the epoch; undefined if the input does not say. */
    readonly at: number | undefined;
    /** Undefined if the input has no request line. */
    readonly target?: RequestTarget | undefined;
  };
  /** The likely format of an input that is too large to parse. */
  readonly seems?: 'capture' | 'http' | undefined;
  /** The format that the raw body has if it contains another body, such as a queue's event that wraps the request. */
  readonly envelope?: Envelope | undefined;
}

/** Maximum bytes of a capture or HTTP request, which is kept in memory. */
const LARGEST_REQUEST = 256 * 1024 * 1024;
/** Bytes up to which the format is detected from the content. A larger input is a raw body unless --format is given. */
const LARGEST_UNNAMED_REQUEST = 8 * 1024 * 1024;
/** Bytes from which the format of an input is guessed: enough for a request line and the first key of a capture. */
export const START_BYTES = 4_096;

/** Reads an input in the format of --format. Throws InputError if the input has another format. */
export async function readSignedRequest(
  source: BodySource,
  io: Io,
  { format, secret }: { readonly format: 'capture' | 'http'; readonly secret: string },
): Promise<SignedInput> {
  const bytes = await readWholeBody(source, io, LARGEST_REQUEST);
  const capture = format === 'http' ? readHttpRequest(bytes) : readCapture(parseJson(bytes, source));
  return signedInput(capture, secret);
}

/** Reads a raw body, a capture or an HTTP request in one pass. Detects the format from the content. */
export async function readAnyBody(source: BodySource, io: Io, secret: string): Promise<SignedInput> {
  const { kept, start, ...raw } = await digestBody(source, io, {
    secret,
    keepBytes: LARGEST_UNNAMED_REQUEST,
  });
  if (start !== undefined) return { ...raw, seems: requestFormat(start) };
  const capture = kept && requestIn(kept);
  if (capture !== undefined) return signedInput(capture, secret);
  const { envelopeOf } = await import('../../../capture/envelopes.ts');
  return { ...raw, envelope: kept && envelopeOf(new KeptBody(kept).value) };
}

/** Reads a raw body. With `headers`, the result has a request, whose body is empty if it is too large to keep. */
export async function readRawBody(
  source: BodySource,
  io: Io,
  { secret, headers = [] }: { readonly secret: string; readonly headers?: readonly HeaderPair[] },
): Promise<SignedInput> {
  const keepBytes = headers.length === 0 ? 0 : LARGEST_UNNAMED_REQUEST;
  const { digest, bytes, kept: body } = await digestBody(source, io, { secret, keepBytes });
  if (headers.length === 0) return { digest, bytes };
  return { digest, bytes, request: { body: body ?? Buffer.alloc(0), headers, at: undefined } };
}

/**
 * Hashes a body in constant memory. Returns the body as `kept` if it has at most `keepBytes`, else its first bytes as
 * `start`.
 */
async function digestBody(
  source: BodySource,
  io: Io,
  { secret, keepBytes }: { readonly secret: string; readonly keepBytes: number },
): Promise<SignedInput & { readonly kept?: Buffer; readonly start?: Buffer }> {
  const hmac = createHmac('sha1', secret);
  let bytes = 0;
  let chunks: Uint8Array[] = [];
  let start: Buffer | undefined;
  await readBodyInput(source, io, (chunk) => {
    hmac.update(chunk);
    bytes += chunk.length;
    if (start !== undefined) return;
    chunks.push(new Uint8Array(chunk));
    if (bytes <= keepBytes) return;
    start = Buffer.concat(chunks, START_BYTES);
    chunks = [];
  });
  const digested = { digest: hmac.digest('hex'), bytes };
  return start === undefined ? { ...digested, kept: Buffer.concat(chunks) } : { ...digested, start };
}

function signedInput(capture: Capture, secret: string): SignedInput {
  const body = captureBody(capture);
  const digest = createHmac('sha1', secret).update(body).digest('hex');
  const at = capture.at === undefined ? undefined : Date.parse(capture.at);
  return {
    digest,
    bytes: body.length,
    request: { body, headers: capture.headers, at, target: targetOf(capture) },
  };
}

/** The request line of a capture, whose URL may be absolute. */
function targetOf({ method, url }: Capture): RequestTarget | undefined {
  if (method === undefined || url === undefined) return undefined;
  return { method, path: url.replace(/^https?:\/\/[^/]*/i, '') || '/' };
}

/** Guesses the format of an input from its first bytes; undefined for a raw body. */
export function requestFormat(start: Buffer): 'capture' | 'http' | undefined {
  if (isHttpRequest(start)) return 'http';
  return /^(?:\xef\xbb\xbf)?\s*\{\s*"capture"\s*:/.test(start.toString('latin1')) ? 'capture' : undefined;
}

/**
 * Parses the bytes as a capture or HTTP request; undefined for a raw body. Throws InputError if the request is malformed.
 */
function requestIn(bytes: Buffer): Capture | undefined {
  const value = jsonValueOf(bytes);
  if (isCapture(value)) return readCapture(value);
  return value === undefined && isHttpRequest(bytes) ? readHttpRequest(bytes) : undefined;
}

function jsonValueOf(bytes: Buffer): unknown {
  return parseJsonOrUndefined(bytes.toString('utf8').replace(/^\ufeff/, ''));
}

function parseJson(bytes: Buffer, source: BodySource): unknown {
  const value = jsonValueOf(bytes);
  if (value !== undefined) return value;
  throw new InputError(`${source ?? 'Standard input'} is not JSON, so it is not a capture`, {
    hint: 'add --format raw to take it as the body itself, or --format http',
  });
}
