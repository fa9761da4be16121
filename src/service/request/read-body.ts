import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import { bufferBody } from './buffer-body.ts';
import type { ByteShare } from './byte-share.ts';
import { encodingRejection, isGzip, TOO_LARGE, UNDECLARED_GZIP, unpackingRejection } from './encoding.ts';
import { OVERLOADED, type IngestRejection } from './rejection.ts';

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly rejection: IngestRejection }
  /** The sender disconnected during the request, so no response is possible. */
  | { readonly ok: false; readonly rejection: undefined };

const MAX_BYTES = MAX_BATCH_BYTES_ACCEPTED;

/** Reads a body and unpacks gzip. As bytes arrive in memory, counts them in the request's `share` of the bytes in flight. */
export async function readIngestBody(request: IncomingMessage, share: ByteShare): Promise<Body> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unknown = encodingRejection(encoding);
  if (unknown !== undefined) return reject(unknown);
  // The limit applies to unpacked bytes. A body whose packed bytes exceed the limit exceeds it unpacked too, almost always.
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return reject(TOO_LARGE);
  const body = await collect(request, share);
  if (!body.ok) return body;
  if (encoding !== 'identity') return unpack(body.bytes, share);
  return isGzip(body.bytes) ? reject(UNDECLARED_GZIP) : body;
}

const REJECTIONS = { 'too-large': TOO_LARGE, 'no-room': OVERLOADED, incomplete: undefined } as const;

function collect(request: IncomingMessage, share: ByteShare): Promise<Body> {
  const limits = { maxBytes: MAX_BYTES, take: (bytes: number) => share.grow(bytes) };
  return new Promise((resolve) => {
    bufferBody(request, limits, (result) => {
      if (result.kind === 'body') resolve({ ok: true, bytes: result.body });
      else resolve({ ok: false, rejection: REJECTIONS[result.kind] });
    });
  });
}

const gunzipAsync = promisify(gunzip);

/**
 * Unpacks a body. First reserves as many bytes as the gzip trailer declares, which is usually the unpacked size. If the body
 * needs more, reserves the limit and unpacks again.
 */
async function unpack(packed: Buffer, share: ByteShare): Promise<Body> {
  const declared = packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4); // RFC 1952: ISIZE
  const body = await unpackUpTo(Math.min(Math.max(declared, 1), MAX_BYTES), packed, share);
  return body.ok || body.rejection !== TOO_LARGE ? body : unpackUpTo(MAX_BYTES, packed, share);
}

/** Unpacks at most `maxOutputLength` bytes, reserved beforehand, so that a zip bomb cannot use more memory. */
async function unpackUpTo(maxOutputLength: number, packed: Buffer, share: ByteShare): Promise<Body> {
  share.shrinkTo(packed.length);
  if (!share.grow(maxOutputLength)) return reject(OVERLOADED);
  try {
    const bytes = await gunzipAsync(packed, { maxOutputLength });
    share.shrinkTo(bytes.length);
    return { ok: true, bytes };
  } catch (error) {
    return reject(unpackingRejection(error));
  }
}

function reject(rejection: IngestRejection): Body {
  return { ok: false, rejection };
}
