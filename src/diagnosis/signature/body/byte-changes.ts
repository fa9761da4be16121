import { isAscii } from 'node:buffer';
import { applyRows, type SignatureChange, type Changed, type ChangeRow, type Cost } from '../change.ts';

/** The bytes of a body. A string stands for its UTF-8 bytes. */
export type BodyBytes = Uint8Array | string;

/** Applies the changes of this cost that any body can have: in line ends, byte order mark and character set. */
export function* byteChanges(bytes: Buffer, cost: Cost): Generator<Changed<BodyBytes>> {
  yield* applyRows({ code: 'trailing-newline', rows: NEWLINE_ROWS }, bytes, cost);
  yield* applyRows({ code: 'bom', rows: MARK_ROWS }, bytes, cost);
  yield* applyRows({ code: 'crlf', rows: LINE_END_ROWS }, bytes, cost);
  if (isAscii(bytes)) return;
  yield* applyRows({ code: 'other-encoding', rows: UNICODE_ROWS, fix: AS_UTF_8 }, bytes.toString(), cost);
}

const BOM = Buffer.from('\ufeff');
const [LF, CR] = [0x0a, 0x0d];

const NEWLINE_ROWS: readonly ChangeRow<Buffer>[] = [
  [
    1,
    'without the trailing newline',
    (body) => (body.at(-1) === LF ? body.subarray(0, body.at(-2) === CR ? -2 : -1) : undefined),
  ],
  [1, 'with a newline at the end of the body', (body) => Buffer.concat([body, Buffer.from('\n')])],
  [1, 'with a space at the end of the body', (body) => Buffer.concat([body, Buffer.from(' ')])],
  [2, 'with CRLF at the end of the body', (body) => Buffer.concat([body, Buffer.from('\r\n')])],
  [2, 'with a zero byte at the end of the body', (body) => Buffer.concat([body, Buffer.alloc(1)])],
  [2, 'with the body twice', (body) => Buffer.concat([body, body])],
  [2, 'without the trailing newlines', (body) => body.subarray(0, endOfLines(body))],
];

function endOfLines(body: Buffer): number {
  let end = body.length;
  while (body[end - 1] === LF || body[end - 1] === CR) end--;
  return end;
}

const MARK_ROWS: readonly ChangeRow<Buffer>[] = [
  [2, 'without the byte order mark', (body) => (isMarked(body) ? body.subarray(BOM.length) : undefined)],
  [2, 'with a byte order mark in front', (body) => (isMarked(body) ? undefined : Buffer.concat([BOM, body]))],
];

function isMarked(body: Buffer): boolean {
  return body.subarray(0, BOM.length).equals(BOM);
}

const LINE_END_ROWS: readonly ChangeRow<Buffer>[] = [
  [2, 'with LF for CRLF', (body) => (body.includes('\r\n') ? withLineEnds(body, []) : undefined)],
  [2, 'with CRLF for LF', (body) => (body.includes(LF) ? withLineEnds(body, [CR]) : undefined)],
  [
    2,
    'without its line breaks, as curl -d sends a file',
    (body) => (body.includes(LF) ? withoutBreaks(body) : undefined),
  ],
];

/**
 * Returns the changes of line ends and byte order mark that turn one body into another: none for equal bodies. Undefined if
 * something else differs.
 */
export function byteDifference(from: Buffer, to: Buffer): readonly ByteChange[] | undefined {
  if (from.equals(to)) return [];
  const hasBreaks = to.subarray(0, endOfLines(to)).includes(LF);
  if (hasBreaks && !from.includes(LF) && from.equals(withoutBreaks(to))) return [BREAKS_LOST];
  const [one, other] = [unmarked(from), unmarked(to)];
  const [oneEnd, otherEnd] = [endOfLines(one), endOfLines(other)];
  const [oneText, otherText] = [one.subarray(0, oneEnd), other.subarray(0, otherEnd)];
  if (!withLineEnds(oneText, []).equals(withLineEnds(otherText, []))) return undefined;
  const endings = [one.subarray(oneEnd).toString(), other.subarray(otherEnd).toString()] as const;
  const isOther = otherText.includes('\r\n') === oneText.includes('\r\n');
  return [
    ...(isMarked(from) === isMarked(to) ? [] : [MARKS[isMarked(from) ? 0 : 1]]),
    ...(isOther ? [] : [LINE_ENDS[oneText.includes('\r\n') ? 0 : 1]]),
    ...(endings[0] === endings[1] ? [] : [endingChange(...endings)]),
  ];
}

type ByteChange = Pick<SignatureChange, 'code' | 'would' | 'fix'>;

const MARKS = [
  { code: 'bom', would: 'without the byte order mark' },
  { code: 'bom', would: 'with a byte order mark in front' },
] as const;
const LINE_ENDS = [
  { code: 'crlf', would: 'with LF for CRLF' },
  { code: 'crlf', would: 'with CRLF for LF' },
] as const;
const BREAKS_LOST: ByteChange = {
  code: 'crlf',
  would: 'with line breaks, which curl -d removes from a file',
  fix: 'Send the file as it is: curl --data-binary @FILE, not -d @FILE',
};

function endingChange(from: string, to: string): ByteChange {
  const code = 'trailing-newline';
  if (to === '') return { code, would: `without the trailing ${from.length > 2 ? 'newlines' : 'newline'}` };
  return {
    code,
    would: `with ${to === '\r\n' ? 'CRLF' : 'a newline'} at the end of the body${from === '' ? '' : ' in place of another'}`,
  };
}

function unmarked(body: Buffer): Buffer {
  return isMarked(body) ? body.subarray(BOM.length) : body;
}

/** Replaces line ends byte by byte: replacing millions of line ends in a string takes a hundred times as long. */
function withLineEnds(body: Buffer, before: readonly number[]): Buffer {
  const changed = Buffer.allocUnsafe(2 * body.length);
  let length = 0;
  for (let index = 0; index < body.length; index++) {
    const byte = body[index] ?? 0;
    if (byte === CR && body[index + 1] === LF) continue;
    if (byte === LF) for (const each of before) changed[length++] = each;
    changed[length++] = byte;
  }
  return changed.subarray(0, length);
}

function withoutBreaks(body: Buffer): Buffer {
  return Buffer.from(body.filter((byte) => byte !== LF && byte !== CR));
}

/**
 * Matches more combining marks in a row than any language has (UAX #15, Stream-Safe Text Format). Sorting them takes time
 * quadratic in their number: minutes for a megabyte.
 */
const MANY_MARKS = /\p{M}{31}/u;

const normalized =
  (form: 'NFC' | 'NFD') =>
  (text: string): string | undefined =>
    MANY_MARKS.test(text) ? undefined : text.normalize(form);

/** Ways to encode a text that differ from UTF-8 only if the text is not all ASCII. */
const UNICODE_ROWS: readonly ChangeRow<string, BodyBytes>[] = [
  [2, 'in Latin-1', (text) => Buffer.from(text, 'latin1')],
  [1, 'with its UTF-8 encoded a second time', (text) => Buffer.from(text).toString('latin1')],
  [
    2,
    'with its UTF-8 read as windows-1252 and encoded a second time',
    (text) => windows1252.decode(Buffer.from(text)),
  ],
  [2, 'in windows-1252', inWindows1252],
  [2, 'in ASCII, with ? for other characters', (text) => text.replaceAll(/[^\0-\x7f]/gu, '?')],
  [
    2,
    'in ASCII, with ? for other characters, two for an emoji',
    (text) => text.replaceAll(/[^\0-\x7f]/g, '?'),
  ],
  [2, 'in ASCII, without other characters', (text) => text.replaceAll(/[^\0-\x7f]/g, '')],
  [2, 'with U+FFFD in place of what is not UTF-8', (text) => text],
  [2, 'in Unicode form NFC', normalized('NFC')],
  [2, 'in Unicode form NFD', normalized('NFD')],
];

/** The advice for a body that one side reads or writes in another character set. */
export const AS_UTF_8 =
  'Read, sign and write the body as UTF-8 on both sides, or better as bytes: a reader, a database connection or a file has another character set';

/** Encodes a text in windows-1252, with ? for other characters. */
function inWindows1252(text: string): Buffer {
  const all = windows1252.decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  return Buffer.from(Array.from(text, (each) => (all.includes(each) ? all.indexOf(each) : 0x3f)));
}

const windows1252 = new TextDecoder('windows-1252');
