import { isAscii } from 'node:buffer';
import { KeptBody, LARGEST_DIAGNOSED } from '../../signature/body/kept-body.ts';
import { whyDiffers } from '../../signature/body/why-differs.ts';
import type { Deadline } from '../../signature/deadline.ts';
import { overLossyBody } from '../../signature/reasons.ts';
import { bodyLooks } from './body-looks.ts';
import { isPacked } from './decoders.ts';
import { applyRows, type Change, type Changed, type ChangeRow, type Cost } from './change.ts';
import { encodedForms, formChanges } from './form-changes.ts';
import { jsonParts, jsonSpellings } from './json-changes.ts';

type Bytes = Uint8Array | string;

/** Bytes that may have been signed. */
export interface SignedBody {
  readonly body: KeptBody;
  /** Whether the content can be changed further. JSON that was written again can only get other bytes around it. */
  readonly isContent: boolean;
}

/** Yields what one of the two sides may have made of a body before it signed or verified it, by changes of one cost. */
export function* bodyChanges(
  { body, isContent }: SignedBody,
  cost: Cost,
  deadline: Deadline,
): Generator<Changed<SignedBody>> {
  yield* signedBodies(byteChanges(body.bytes, cost), false);
  if (!isContent || deadline.isOver) return;
  yield* signedBodies(stringifiedChange(body, cost), false);
  if (body.bytes.length > LARGEST_DIAGNOSED) return;
  yield* signedBodies(contentChanges(body, cost, deadline), true);
  yield* signedBodies(writtenChanges(body, cost, deadline), false);
}

function* signedBodies(
  changes: Iterable<Changed<Bytes>>,
  isContent: boolean,
): Generator<Changed<SignedBody>> {
  for (const { value, ...change } of changes) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : asBuffer(value);
    yield { ...change, value: { body: new KeptBody(bytes), isContent } };
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Changes around the content: line ends, marks and character sets. They apply to any bytes. */
function* byteChanges(bytes: Buffer, cost: Cost): Generator<Changed<Bytes>> {
  yield* applyRows('trailing-newline', NEWLINE_ROWS, bytes, cost);
  yield* applyRows('bom', MARK_ROWS, bytes, cost);
  yield* applyRows('crlf', LINE_END_ROWS, bytes, cost);
  if (!isAscii(bytes)) yield* applyRows('other-encoding', UNICODE_ROWS, bytes.toString(), cost);
}

/** Changes that lead to other content, such as the JSON inside an envelope. */
function* contentChanges(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<Bytes>> {
  yield* jsonParts(body, cost, deadline);
  yield* applyRows('gzip', PACKING_ROWS, body.bytes, cost);
  if (cost === 1) yield* insideChanges(body);
  yield* formChanges(body, cost, deadline);
  yield* applyRows('other-encoding', DECODING_ROWS, body.bytes.toString(), cost);
}

/** Changes that write the same content in another way. */
function* writtenChanges(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<Bytes>> {
  yield* jsonSpellings(body, cost, deadline);
  if (deadline.isOver) return;
  yield* encodedForms(body, cost);
  yield* applyRows('other-encoding', BYTES_ROWS, body.bytes, cost);
  yield* applyRows('other-encoding', TEXT_ROWS, body.bytes.toString(), cost);
  yield* applyRows('object-text', OBJECT_TEXT_ROWS, body, cost);
}

/** Texts that broken senders sign instead of the body. They do not depend on the body. */
export function bodyReplacements(cost: Cost): Iterable<Changed<SignedBody>> {
  return signedBodies(applyRows('other-encoding', CONSTANT_ROWS, undefined, cost), false);
}

const CONSTANT_ROWS: readonly ChangeRow<undefined, string>[] = [
  [1, 'over no bytes at all: the sender did not have the body when it signed', () => ''],
  [1, 'over "[object Object]": the sender signed an object instead of its JSON', () => '[object Object]'],
  [2, 'over {}: the sender did not have the body when it signed', () => '{}'],
  [2, 'over the word "undefined": the sender did not have the body when it signed', () => 'undefined'],
  [2, 'over the word "null": the sender did not have the body when it signed', () => 'null'],
];

/** The JSON-stringified body. Signing it is a mistake only with --exact; otherwise its signature is valid. */
function* stringifiedChange(body: KeptBody, cost: Cost): Generator<Changed<string>> {
  const { text = '', json } = body;
  if (cost !== 1 || json === undefined || json === text) return;
  const refined = (): Pick<Change, 'code' | 'would'> =>
    body.lossy === undefined
      ? { code: whyDiffers(text, json), would: STRINGIFIED }
      : { code: 'lossy-json', would: overLossyBody(body.lossy.loss) };
  yield { code: 'pretty-printed', would: STRINGIFIED, cost, refined, value: json };
}

const STRINGIFIED = 'over the JSON-stringified body';

/** Yields the bytes inside a body that looks odd, such as base64: unchanged, and as JSON.stringify writes them. */
function* insideChanges(body: KeptBody): Generator<Changed<Bytes>> {
  for (const { code, says, fix, inside } of bodyLooks(body)) {
    const bytes = inside?.(body);
    if (bytes !== undefined)
      yield { code, would: `over what is in it: the body ${says}`, fix, cost: 1, value: bytes };
  }
}

const BOM = Buffer.from('\ufeff');
const [LF, CR] = [0x0a, 0x0d];

const NEWLINE_ROWS: readonly ChangeRow<Buffer>[] = [
  [
    1,
    'without the trailing newline',
    (body) => (body.at(-1) === LF ? body.subarray(0, body.at(-2) === CR ? -2 : -1) : undefined),
  ],
  [1, 'with a newline at the end', (body) => Buffer.concat([body, Buffer.from('\n')])],
  [2, 'with CRLF at the end', (body) => Buffer.concat([body, Buffer.from('\r\n')])],
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

/** Loads zlib on demand, because only a diagnosis needs it. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

const PACKING_ROWS: readonly ChangeRow<Buffer>[] = [
  [1, 'over the unpacked body', (body) => (isPacked(body) ? unpackedBody(body) : undefined)],
];

/**
 * Limits the unpacked size, because a small gzip body may unpack to gigabytes. JSON is never compressed to less than 1/64,
 * and unpacking up to this limit takes some milliseconds.
 */
const MOST_UNPACKED_PER_BYTE = 64;

/** Unpacks a body; undefined if it is neither gzip nor zlib, or too large unpacked. */
function unpackedBody(body: Buffer): Buffer | undefined {
  const largest = Math.min(
    8 * LARGEST_DIAGNOSED,
    Math.max(LARGEST_DIAGNOSED, MOST_UNPACKED_PER_BYTE * body.length),
  );
  try {
    return zlib().unzipSync(body, { maxOutputLength: largest });
  } catch {
    return undefined;
  }
}

const DECODING_ROWS: readonly ChangeRow<string>[] = [
  [
    2,
    'without the backslashes before its quotes',
    (text) => ifHas(text, '\\"', (each) => each.replaceAll('\\"', '"')),
  ],
  [2, 'with its entities decoded', (text) => ifHas(text, '&', decodedEntities)],
];

/** Ways in which programs encode a text before they sign it. */
const TEXT_ROWS: readonly ChangeRow<string, Bytes>[] = [
  [2, 'without the white space around it', (text) => text.trim()],
  [
    2,
    'with its backslashes doubled and quotes escaped, as addslashes writes it',
    (text) => text.replaceAll(/["'\\]/g, String.raw`\$&`),
  ],
  [2, 'with its quotes, <, > and & as entities', (text) => encodedEntities(text, '&#39;')],
  [
    3,
    'with its quotes, <, > and & as entities, as PHP writes them',
    (text) => encodedEntities(text, '&#039;'),
  ],
  [2, 'stringified twice, as a JSON string', (text) => JSON.stringify(text)],
  [3, 'in UTF-16', (text) => Buffer.from(text, 'utf16le')],
  [3, 'in UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  [3, 'in big-endian UTF-16', (text) => Buffer.from(text, 'utf16le').swap16()],
];

const BYTES_ROWS: readonly ChangeRow<Buffer, Bytes>[] = [
  [3, 'over the gzipped body', (body) => zlib().gzipSync(body)],
  [2, 'over its base64', (body) => body.toString('base64')],
  [3, 'over its hex', (body) => body.toString('hex')],
  [3, 'over the text that Python prints for its bytes', pythonBytesText],
];

function ifHas(text: string, part: string, change: (text: string) => string): string | undefined {
  return text.includes(part) ? change(text) : undefined;
}

function encodedEntities(text: string, apostrophe: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

function decodedEntities(text: string): string {
  return text
    .replaceAll(/&#0?39;|&#x27;|&apos;/gi, "'")
    .replaceAll(/&quot;|&#34;/g, '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
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
const UNICODE_ROWS: readonly ChangeRow<string, Bytes>[] = [
  [2, 'in Latin-1', (text) => Buffer.from(text, 'latin1')],
  [1, 'with its UTF-8 encoded a second time', (text) => Buffer.from(text).toString('latin1')],
  [
    2,
    'with its UTF-8 read as windows-1252 and encoded a second time',
    (text) => windows1252.decode(Buffer.from(text)),
  ],
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

const windows1252 = new TextDecoder('windows-1252');

const OBJECT_TEXT_ROWS: readonly ChangeRow<KeptBody, string>[] = [
  [
    2,
    'over the text that Python prints for it, which is not JSON',
    ({ json }) => (json === undefined ? undefined : pythonObjectText(json)),
  ],
];

/** The text that Python prints for bytes: `str(body)`. */
function pythonBytesText(bytes: Buffer): string {
  const quoted = pythonQuoted(bytes.toString('latin1'));
  return `b${quoted.replaceAll(/[\x7f-\xff]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`)}`;
}

/** The text that Python prints for parsed JSON: `str(message)`. */
function pythonObjectText(json: string): string {
  return json.replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null|[,:]/g,
    (part) => PYTHON_WORDS[part] ?? pythonQuoted(JSON.parse(part) as string), // the literal of a JSON string
  );
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
  ',': ', ',
  ':': ': ',
};

function pythonQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
}
