import { isUtf8 } from 'node:buffer';
import { InputError } from '../../errors.ts';
import { MEMBER_END } from '../entry.ts';

const BOM = [0xef, 0xbb, 0xbf];
const CR = 0x0d;
/** Maximum bytes of a line: a file with longer lines has another format. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * Yields an input in pieces of whole lines; the last line gets a line break if it has none. Throws InputError if the input
 * is not UTF-8.
 */
export async function* wholeLines(chunks: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let isFirst = true;
  const checked = (piece: Buffer): Buffer => {
    const lines = isFirst && BOM.every((byte, index) => piece[index] === byte) ? piece.subarray(3) : piece;
    isFirst = false;
    // Rejects zero bytes, because ASCII in UTF-16 is valid UTF-8 with zero bytes.
    if (!isUtf8(lines) || lines.includes(0)) throw notUtf8(lines, { file, line });
    line += countLines(lines);
    return lines;
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const end = bytes.lastIndexOf(MEMBER_END) + 1;
    if (end > 0) {
      yield checked(
        rest.length === 0 ? bytes.subarray(0, end) : Buffer.concat([rest, bytes.subarray(0, end)]),
      );
      rest = Buffer.alloc(0);
    }
    // Copies the rest, because the chunk may be reused.
    rest = Buffer.concat([rest, bytes.subarray(end)]);
    if (rest.length > MAX_LINE_BYTES) {
      throw rest.includes(CR) ? endsInCr({ file, line }) : tooLong({ file, line });
    }
  }
  if (rest.length > 0) yield checked(Buffer.concat([rest, Buffer.of(MEMBER_END)]));
}

interface LineOrigin {
  readonly file: string;
  readonly line: number;
}

function notUtf8(lines: Buffer, { file, line }: LineOrigin): InputError {
  const texts = lines.toString('latin1').split('\n');
  const broken = texts.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')) || text.includes('\0'));
  const isUtf16 = lines.includes(0);
  return new InputError(
    isUtf16 ? 'Expected UTF-8, got zero bytes: it may be UTF-16' : 'Expected UTF-8, got other bytes',
    {
      file,
      line: line + broken,
      hint: isUtf16 ? 'convert it: iconv -f UTF-16 -t UTF-8 FILE' : 'save the file as UTF-8',
    },
  );
}

/** The error for lines that end in CR alone, as in Excel's "CSV (Macintosh)": the whole file would be one line. */
export function endsInCr(place: LineOrigin): InputError {
  return new InputError('Expected lines that end in LF or CR LF, got CR alone', {
    ...place,
    hint: String.raw`convert it: tr '\r' '\n' < FILE`,
  });
}

function tooLong(place: LineOrigin): InputError {
  return new InputError('Expected lines, got one of more than 1 MiB', {
    ...place,
    hint: 'expected CSV with a header, NDJSON or one id per line',
  });
}

/** Counts line breaks byte by byte: for short lines, calls of `indexOf` would cost more than the loop. */
export function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = 0; at < lines.length; at++) if (lines[at] === MEMBER_END) count++;
  return count;
}
