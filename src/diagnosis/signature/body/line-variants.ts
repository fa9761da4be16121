import type { BodyVariant, BodyPieces } from './body-variant.ts';

const BOM = Buffer.from('\ufeff');
const [LF, CR] = [0x0a, 0x0d];
const CRLF = Buffer.from('\r\n');

/**
 * Yields the body with other line ends, and with or without a byte order mark. Works on bytes, since the body
 * may not be UTF-8.
 */
export function* lineVariants(body: Buffer): Generator<BodyVariant> {
  const bare = withoutNewline(body);
  const barest = withoutAllNewlines(body);
  if (bare.length < body.length) {
    yield { code: 'trailing-newline', would: 'without the trailing newline', bytes: bare };
  }
  if (barest.length < bare.length) {
    yield { code: 'trailing-newline', would: 'without the trailing newlines', bytes: barest };
  }
  yield* markVariants(body);
  yield* lineEndVariants(body, bare);
}

function* markVariants(body: Buffer): Generator<BodyVariant> {
  if (!body.subarray(0, BOM.length).equals(BOM)) {
    const bytes: BodyPieces = (write) => void (write(BOM) && write(body));
    yield { code: 'bom', would: 'with a byte order mark in front', bytes };
    return;
  }
  const unmarked = body.subarray(BOM.length);
  const bare = withoutNewline(unmarked);
  yield { code: 'bom', would: 'without the byte order mark', bytes: unmarked };
  if (bare.length < unmarked.length) {
    yield { code: 'bom', would: 'without the byte order mark and the trailing newline', bytes: bare };
  }
}

function* lineEndVariants(body: Buffer, bare: Buffer): Generator<BodyVariant> {
  const code = 'crlf';
  for (const [found, lineEnd, would] of LINE_ENDS) {
    if (!body.includes(found)) continue;
    yield { code, would, bytes: withLineEnds(lineEnd, body) };
    if (bare.length === body.length) continue;
    yield { code, would: `${would} and without the trailing newline`, bytes: withLineEnds(lineEnd, bare) };
  }
}

const LINE_ENDS = [
  [CRLF, '\n', 'with LF for CRLF'],
  [LF, '\r\n', 'with CRLF for LF'],
] as const;

const PIECE_BYTES = 64 * 1024;

/** Replaces line ends byte by byte: replacing millions of line ends in a string takes a hundred times as long. */
function withLineEnds(lineEnd: '\n' | '\r\n', body: Buffer): BodyPieces {
  return (write) => {
    const piece = Buffer.allocUnsafe(2 * PIECE_BYTES);
    for (let start = 0, isWanted = true; start < body.length && isWanted; start += PIECE_BYTES) {
      const end = Math.min(start + PIECE_BYTES, body.length);
      let length = 0;
      for (let index = start; index < end; index++) {
        const byte = body[index] ?? 0;
        if (byte === CR && body[index + 1] === LF) continue;
        if (byte === LF && lineEnd === '\r\n') piece[length++] = CR;
        piece[length++] = byte;
      }
      isWanted = write(piece.subarray(0, length));
    }
  };
}

function withoutNewline(body: Buffer): Buffer {
  if (body.at(-1) !== LF) return body;
  return body.subarray(0, body.at(-2) === CR ? -2 : -1);
}

function withoutAllNewlines(body: Buffer): Buffer {
  let end = body.length;
  while (body[end - 1] === LF || body[end - 1] === CR) end--;
  return body.subarray(0, end);
}
