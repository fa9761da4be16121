import { isUtf8 } from 'node:buffer';
import { MASK, isSecretHeader, redactUrl } from '../redact.ts';
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

/** The capture of a request: the exact body, the headers with secret values masked. */
export function toCapture({ at, method, url, headers, body, verdict }: CapturedRequest): Capture {
  return {
    capture: 1,
    ...(at === undefined ? {} : { at: new Date(at).toISOString() }),
    method,
    url,
    headers: headers.map(maskSecret),
    ...capturedBody(body),
    ...(verdict === undefined ? {} : { verdict }),
  };
}

/** Proxies tell in these where a request went (`X-Forwarded-Uri`, `X-Original-URL`), others where it came from. */
const URL_HEADER = /(?:ur[il]|path|location|referr?er)$/i;

/** The signature is no secret and must stay: without it a capture could not be verified again. */
function maskSecret([name, value]: HeaderPair): HeaderPair {
  if (name.toLowerCase() === 'x-signature') return [name, value];
  if (isSecretHeader(name)) return [name, MASK];
  return [name, URL_HEADER.test(name) ? redactUrl(value) : value];
}

/** As text where that loses nothing. */
export function capturedBody(body: Uint8Array): { body: string } | { bodyBase64: string } {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return isUtf8(bytes) ? { body: bytes.toString('utf8') } : { bodyBase64: bytes.toString('base64') };
}
