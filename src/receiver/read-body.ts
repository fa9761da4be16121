import type { IncomingMessage } from 'node:http';

export type BodyResult =
  | { readonly kind: 'body'; readonly body: Uint8Array }
  /** More than `maxBytes`, by its Content-Length or by what came; the rest is discarded as it comes. */
  | { readonly kind: 'too-large' }
  /** There is no room for more beside the bodies of other requests; the rest is discarded as it comes. */
  | { readonly kind: 'no-room' }
  /** The sender left in the middle. */
  | { readonly kind: 'incomplete' };

const NOTHING = new Uint8Array(0);

interface BodyLimits {
  readonly maxBytes: number;
  /** Asked for each chunk: false when there is no room for it. @default there always is */
  readonly take?: (bytes: number) => boolean;
}

/** Reads a request's body into memory, up to `maxBytes`. Calls back once; a promise a request would be felt at full speed. */
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

function joined(chunks: readonly Buffer[]): Uint8Array {
  if (chunks.length > 1) return Buffer.concat(chunks);
  return chunks[0] ?? NOTHING;
}

/** Node has checked that it is digits, and that there is one. */
function declaredBytes({ headers }: IncomingMessage): number {
  return Number(headers['content-length'] ?? 0);
}
