import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { formatCount, MAX_BATCH_BYTES_ACCEPTED } from '../../message/limits.ts';
import { printable } from '../../redact.ts';
import type { ByteShare } from './byte-share.ts';
import { malformed, OVERLOADED, tooLarge, type IngestRejection } from './rejection.ts';

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly rejection: IngestRejection }
  /** The sender left in the middle: there is no response to send. */
  | { readonly ok: false; readonly rejection: undefined };

const MAX_BYTES = MAX_BATCH_BYTES_ACCEPTED;

const TOO_LARGE = tooLarge(`expected at most ${formatCount(MAX_BYTES)} bytes, unpacked`);

/** Reads a body, and unpacks it when it is gzipped. The share grows by what is held in memory, as it comes. */
export async function readIngestBody(request: IncomingMessage, share: ByteShare): Promise<Body> {
  const encoding = (request.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (!['identity', 'gzip', 'x-gzip'].includes(encoding)) return reject(unknownEncoding(encoding));
  // Gzipped it is hardly ever larger than unpacked, and then it is not worth its while.
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
      // The rest is thrown away as it comes, so that the sender gets to read the response.
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

/** How gzip begins (RFC 1952, 2.3.1), and no JSON does. */
function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

const UNDECLARED_GZIP = malformed(
  'the body is gzipped, but its headers do not say so',
  'send Content-Encoding: gzip',
);

const gunzipAsync = promisify(gunzip);

/** First to the size that the body itself tells, which is mostly true; if there is more, to the limit. */
async function unpack(packed: Buffer, share: ByteShare): Promise<Body> {
  const told = packed.length < 4 ? 0 : packed.readUInt32LE(packed.length - 4); // RFC 1952: ISIZE
  const body = await unpackUpTo(Math.min(Math.max(told, 1), MAX_BYTES), packed, share);
  return body.ok || body.rejection !== TOO_LARGE ? body : unpackUpTo(MAX_BYTES, packed, share);
}

/** What it may unpack to is reserved before, so that a bomb takes no more than that. */
async function unpackUpTo(maxOutputLength: number, packed: Buffer, share: ByteShare): Promise<Body> {
  share.shrinkTo(packed.length);
  if (!share.grow(maxOutputLength)) return reject(OVERLOADED);
  try {
    const bytes = await gunzipAsync(packed, { maxOutputLength });
    share.shrinkTo(bytes.length);
    return { ok: true, bytes };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException; // what zlib rejects with
    if (code === 'ERR_BUFFER_TOO_LARGE') return reject(TOO_LARGE);
    const what = code === 'Z_BUF_ERROR' ? 'the gzipped body is cut off' : 'the body is not gzip';
    return reject(malformed(what, 'send what Content-Encoding says, or leave that header out'));
  }
}

function reject(rejection: IngestRejection): Body {
  return { ok: false, rejection };
}

function unknownEncoding(encoding: string): IngestRejection {
  return {
    status: 415,
    code: 'encoding',
    message: `expected a body that is plain or gzipped, got ${printable(encoding, 40)}`,
    hint: 'send Content-Encoding: gzip, or none',
  };
}
