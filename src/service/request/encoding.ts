import { formatCount, MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import { printable } from '../../redact.ts';
import { malformed, tooLarge, type IngestRejection } from './rejection.ts';

export const TOO_LARGE = tooLarge(
  `Expected at most ${formatCount(MAX_BATCH_BYTES_ACCEPTED)} bytes, unpacked`,
);

/** The rejection of an unsupported Content-Encoding. Undefined if it is supported. */
export function encodingRejection(encoding: string): IngestRejection | undefined {
  if (['identity', 'gzip', 'x-gzip'].includes(encoding)) return undefined;
  return {
    status: 415,
    code: 'encoding',
    message: `Expected a body that is plain or gzipped, got ${printable(encoding, 40)}`,
    hint: 'send Content-Encoding: gzip, or none',
  };
}

/** Whether a body begins with the magic bytes of gzip (RFC 1952, 2.3.1), which no JSON begins with. */
export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export const UNDECLARED_GZIP = malformed(
  'The body is gzipped, but its headers do not say so',
  'send Content-Encoding: gzip',
);

/**
 * The rejection for an error of zlib: the body is not gzip, is cut off, or has more than `maxOutputLength` unpacked bytes.
 */
export function unpackingRejection(error: unknown): IngestRejection {
  const { code } = error as NodeJS.ErrnoException; // zlib throws only such errors
  if (code === 'ERR_BUFFER_TOO_LARGE') return TOO_LARGE;
  const what = code === 'Z_BUF_ERROR' ? 'The gzipped body is cut off' : 'The body is not gzip';
  return malformed(what, 'send a complete gzip body, or omit the header Content-Encoding');
}
