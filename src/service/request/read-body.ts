import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import type { ByteShare } from './byte-share.ts';
import { encodingRejection, isGzip, TOO_LARGE, UNDECLARED_GZIP, unpackingRejection } from './encoding.ts';
import { OVERLOADED, type IngestRejection } from './rejection.ts';

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly rejection: IngestRejection }
  /** The sender disconnected during the request, so no response is possible. */
  | { readonly ok: false; readonly rejection: undefined };

const MAX_BYTES = MAX_BATCH_BYTES_ACCEPTED;

/** Reads a body and unpacks gzip. Increases the share by the bytes in memory, as they arrive. */
export async function readIngestBody(request: IncomingMessage, share: ByteShare): Promise<Body> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const unknown = encodingRejection(encoding);
  if (unknown !== undefined) return reject(unknown);
  // The limit applies to unpacked bytes, but a gzipped body is hardly ever larger than unpacked.
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return reject(TOO_LARGE);
  const body = await collect(request, share);
  if (!body.ok) return body;
  if (encoding !== 'identity') return unpack(body.bytes, share);
  return isGzip(body.bytes) ? reject(UNDECLARED_GZIP) : body;
}

function collect(request: IncomingMessage, share: ByteShare): Promise<Body> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve) => {
    const settle = (body: Body): void => {
      chunks.length = 0;
      request.off('data', onData);
      // Discards the rest as it arrives, so that the sender can read the response.
      if (!request.readableEnded && !request.destroyed) request.resume();
      resolve(body);
    };
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > MAX_BYTES) return settle(reject(TOO_LARGE));
      if (!share.grow(chunk.length)) return settle(reject(OVERLOADED));
      chunks.push(chunk);
    };
    request.on('data', onData);
    request.once('end', () => settle({ ok: true, bytes: Buffer.concat(chunks) }));
    request.once('error', () => settle({ ok: false, rejection: undefined }));
    request.once('close', () => settle({ ok: false, rejection: undefined }));
  });
}

const gunzipAsync = promisify(gunzip);

/** Unpacks a body. First reserves the size that the gzip trailer declares, which is usually true; if that is too small, the limit. */
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
