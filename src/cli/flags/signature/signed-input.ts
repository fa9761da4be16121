import { createHmac } from 'node:crypto';
import { captureBody, type Capture, type HeaderPair } from '../../../capture/capture.ts';
import { isHttpRequest, readHttpRequest } from '../../../capture/http-request.ts';
import { isCapture, readCapture } from '../../../capture/read-capture.ts';
import { InputError } from '../../../errors.ts';
import type { Envelope } from '../../../capture/envelopes.ts';
import { KeptBody } from '../../../signature/body/kept-body.ts';
import { readBodyInput, readWholeBody, type BodySource } from './body-input.ts';
import type { Io } from '../../io.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';

/** A body, and the signature that came with it. */
export interface SignedInput {
  /** The digest of the body under the first secret. */
  readonly digest: string;
  readonly bytes: number;
  /** The request that held both; undefined for a raw body, which comes without a signature. */
  readonly request?: {
    readonly body: Uint8Array;
    readonly headers: readonly HeaderPair[];
    /** When it came, in ms since the epoch; undefined when the input does not say. */
    readonly at: number | undefined;
  };
  /** What a raw body seems to be that is too large to parse as a whole. */
  readonly seems?: 'capture' | 'http' | undefined;
  /** What a raw body is that holds another body. */
  readonly envelope?: Envelope | undefined;
}

/** Limit of a capture or HTTP request, as text in memory. */
const LARGEST_REQUEST = 256 * 1024 * 1024;
/** An input whose format follows from its content is kept up to here; a larger one is a raw body unless --format says otherwise. */
const LARGEST_UNNAMED_REQUEST = 8 * 1024 * 1024;
/** Enough for a request line, and for the key that a capture begins with. */
export const START_BYTES = 4_096;

/** Reads an input that --format calls a capture or an HTTP request. Throws InputError when it is neither. */
export async function readSignedRequest(
  source: BodySource,
  io: Io,
  { format, secret }: { readonly format: 'capture' | 'http'; readonly secret: string },
): Promise<SignedInput> {
  const bytes = await readWholeBody(source, io, LARGEST_REQUEST);
  const capture = format === 'http' ? readHttpRequest(bytes) : readCapture(parseJson(bytes, source));
  return signedInput(capture, secret);
}

/** Reads a raw body, a capture or an HTTP request, recognized by its content, in one pass. */
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

/** Reads a raw body, with what is known of its headers: one that is not too large is kept. */
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

/** Hashes a body in constant memory: `kept` is the body if it has at most `keepBytes`, else `start` is its start. */
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
  return { digest, bytes: body.length, request: { body, headers: capture.headers, at } };
}

/** What an input seems to be by its start; undefined: a body. */
export function requestFormat(start: Buffer): 'capture' | 'http' | undefined {
  if (isHttpRequest(start)) return 'http';
  return /^(?:\xef\xbb\xbf)?\s*\{\s*"capture"\s*:/.test(start.toString('latin1')) ? 'capture' : undefined;
}

/** The request that the bytes contain; undefined: they are a body. Throws InputError for a broken capture or request. */
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
  throw new InputError(`${source ?? 'Standard input'} is not JSON, so it is no capture`, {
    hint: 'add --format raw to take it as the body itself, or --format http',
  });
}
