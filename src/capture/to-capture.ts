import { isUtf8 } from 'node:buffer';
import { MASK, isSecretHeader, redactUrl } from '../redact.ts';
import { isoTime } from '../clock.ts';
import type { Capture, CapturedVerdict, HeaderPair } from './capture.ts';

export interface CapturedRequest {
  /** Ms since the epoch; absent when it is not known. */
  readonly at?: number | undefined;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly HeaderPair[];
  readonly body: Uint8Array;
  readonly verdict?: CapturedVerdict | undefined;
}

/** Makes the capture of a request: the exact body, the headers with secret values masked. */
export function toCapture({ at, method, url, headers, body, verdict }: CapturedRequest): Capture {
  return {
    capture: 1,
    ...(at === undefined ? {} : { at: isoTime(at) }),
    method,
    url,
    headers: headers.map(maskSecret),
    ...capturedBody(body),
    ...(verdict === undefined ? {} : { verdict }),
  };
}

/** Headers in which proxies write a request's URL (`X-Forwarded-Uri`, `X-Original-URL`), or others where it came from. */
const URL_HEADER = /(?:ur[il]|path|location|referr?er)$/i;

/** Masks a secret header. The signature is not secret and must stay: without it a capture could not be verified again. */
function maskSecret([name, value]: HeaderPair): HeaderPair {
  if (name.toLowerCase() === 'x-signature') return [name, value];
  if (isSecretHeader(name)) return [name, MASK];
  return [name, URL_HEADER.test(name) ? redactUrl(value) : value];
}

/** The body as text if that loses nothing, else as base64. */
export function capturedBody(body: Uint8Array): { body: string } | { bodyBase64: string } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes) ? { body: bytes.toString('utf8') } : { bodyBase64: bytes.toString('base64') };
}
