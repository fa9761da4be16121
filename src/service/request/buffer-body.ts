import type { IncomingMessage } from 'node:http';

export type BodyResult =
  | { readonly kind: 'body'; readonly body: Buffer }
  /** The Content-Length or the arrived bytes exceed `maxBytes`. The rest of the body is discarded as it arrives. */
  | { readonly kind: 'too-large' }
  /** The bodies of other requests leave no room. The rest of the body is discarded as it arrives. */
  | { readonly kind: 'no-room' }
  /** The sender disconnected before the end of the body. */
  | { readonly kind: 'incomplete' };

const NOTHING = Buffer.alloc(0);

interface BodyLimits {
  readonly maxBytes: number;
  /**
   * Called with the size of each chunk that arrives. Returns false if there is no room for the chunk. @default always true
   */
  readonly take?: (bytes: number) => boolean;
}

/**
 * Reads a request's body into memory, up to `maxBytes`, and calls `done` once. A promise per request would reduce the
 * throughput.
 */
export function bufferBody(
  request: IncomingMessage,
  { maxBytes, take = () => true }: BodyLimits,
  done: (result: BodyResult) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let settled = false;
  const settle = (result: BodyResult): void => {
    if (settled) return;
    settled = true;
    chunks.length = 0;
    done(result);
  };
  request.on('error', () => settle({ kind: 'incomplete' }));
  request.on('data', (chunk: Buffer) => {
    if (settled) return;
    bytes += chunk.length;
    if (bytes > maxBytes) settle({ kind: 'too-large' });
    else if (!take(chunk.length)) settle({ kind: 'no-room' });
    else chunks.push(chunk);
  });
  request.on('end', () => settle({ kind: 'body', body: joined(chunks) }));
  if (declaredBytes(request) > maxBytes) settle({ kind: 'too-large' });
}

function joined(chunks: readonly Buffer[]): Buffer {
  if (chunks.length > 1) return Buffer.concat(chunks);
  return chunks[0] ?? NOTHING;
}

/** The Content-Length, or 0. Node has validated that it is a number. */
function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}
