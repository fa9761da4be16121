import { isUtf8 } from 'node:buffer';
import { MASK, isSecretHeader, redactUrl } from '../redact.ts';
import { isoTime } from '../clock.ts';
import type { Capture, CapturedBody, CaptureRequest, HeaderPair } from './capture.ts';

/** A request to write as a capture. */
export interface CapturedRequest extends Pick<CaptureRequest, 'method' | 'url' | 'headers'> {
  /** Time when the request arrived. Ms since the epoch. Undefined if unknown. */
  readonly at?: number | undefined;
  readonly body: Uint8Array;
  readonly verdict?: CaptureRequest['verdict'] | undefined;
  readonly redacted?: string | undefined;
}

/** Makes the capture of a request: the exact body, and the headers with secret values masked. */
export function toCapture({ at, method, url, headers, body, verdict, redacted }: CapturedRequest): Capture {
  return {
    capture: 1,
    ...(at === undefined ? {} : { at: isoTime(at) }),
    method,
    url,
    headers: headers.map(maskedHeader),
    ...capturedBody(body),
    ...(verdict === undefined ? {} : { verdict }),
    ...(redacted === undefined ? {} : { redacted }),
  };
}

/**
 * Matches headers whose value is a URL: that of the request, also from a proxy (`X-Forwarded-Uri`, `X-Original-URL`), or of
 * a referrer.
 */
const URL_HEADER = /(?:ur[il]|path|location|referr?er)$/i;

/** Masks a secret header. Keeps the signature, which is not secret and is needed to verify a capture again. */
export function maskedHeader([name, value]: HeaderPair): HeaderPair {
  if (name.toLowerCase() === 'x-signature') return [name, value];
  if (isSecretHeader(name)) return [name, MASK];
  return [name, URL_HEADER.test(name) ? redactUrl(value) : value];
}

/** The body as text if it is valid UTF-8, else as base64. */
export function capturedBody(body: Uint8Array): CapturedBody {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes) ? { body: bytes.toString('utf8') } : { bodyBase64: bytes.toString('base64') };
}
