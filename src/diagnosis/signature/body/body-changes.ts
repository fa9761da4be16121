import { AS_UTF_8, byteChanges, type BodyBytes } from './byte-changes.ts';
import { KeptBody, LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import { whyDiffers } from '../../../signature/body/why-differs.ts';
import type { Deadline } from '../../../signature/deadline.ts';
import { overLossyBody, SAME_BYTES } from '../../../signature/reasons.ts';
import { bodyLooks } from './body-looks.ts';
import { decodedEntities, encodedEntities } from '../entities.ts';
import { isPacked } from './decoders.ts';
import { applyRows, type SignatureChange, type Changed, type ChangeRow, type Cost } from '../change.ts';
import { encodedForms, formChanges } from './form-changes.ts';
import { jsonParts, jsonSpellings, STRINGIFY_ONCE } from './json-changes.ts';

/** Bytes that may have been signed as the body. */
export interface BodyCandidate {
  readonly body: KeptBody;
  /** Whether changes of the content can follow. JSON that was written again only gets changes of its bytes, such as line ends. */
  readonly isContent: boolean;
}

/** Yields the bodies that one side may have signed or verified in place of this one, by changes of this cost. */
export function* bodyChanges(
  { body, isContent }: BodyCandidate,
  cost: Cost,
  deadline: Deadline,
): Generator<Changed<BodyCandidate>> {
  yield* signedBodies(byteChanges(body.bytes, cost), false);
  if (!isContent || deadline.isOver) return;
  yield* signedBodies(stringifiedChange(body, cost), false);
  if (body.bytes.length > LARGEST_DIAGNOSED) return;
  yield* signedBodies(contentChanges(body, cost, deadline), true);
  yield* signedBodies(writtenChanges(body, cost, deadline), false);
}

function* signedBodies(
  changes: Iterable<Changed<BodyBytes>>,
  isContent: boolean,
): Generator<Changed<BodyCandidate>> {
  for (const { value, ...change } of changes) {
    const bytes = typeof value === 'string' ? Buffer.from(value) : asBuffer(value);
    yield { ...change, value: { body: new KeptBody(bytes), isContent } };
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Yields bodies with other content, such as the JSON inside an envelope. */
function* contentChanges(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<BodyBytes>> {
  yield* jsonParts(body, cost, deadline);
  yield* applyRows({ code: 'gzip', rows: PACKING_ROWS }, body.bytes, cost);
  if (cost === 1) yield* insideChanges(body);
  yield* formChanges(body, cost, deadline);
  yield* applyRows(
    { code: 'other-encoding', rows: DECODING_ROWS, fix: SAME_BYTES },
    body.bytes.toString(),
    cost,
  );
}

/** Yields the same content, written in another way. */
function* writtenChanges(body: KeptBody, cost: Cost, deadline: Deadline): Generator<Changed<BodyBytes>> {
  yield* jsonSpellings(body, cost, deadline);
  if (deadline.isOver) return;
  yield* encodedForms(body, cost);
  yield* applyRows({ code: 'other-encoding', rows: BYTES_ROWS, fix: SAME_BYTES }, body.bytes, cost);
  yield* applyRows({ code: 'other-encoding', rows: TEXT_ROWS, fix: SAME_BYTES }, body.bytes.toString(), cost);
  yield* applyRows({ code: 'object-text', rows: OBJECT_TEXT_ROWS }, body, cost);
}

/** Yields the constant texts that broken senders sign instead of the body, such as `[object Object]`. */
export function bodyReplacements(cost: Cost): Iterable<Changed<BodyCandidate>> {
  return signedBodies(
    applyRows({ code: 'other-encoding', rows: CONSTANT_ROWS, fix: SIGN_THE_BODY }, undefined, cost),
    false,
  );
}

const SIGN_THE_BODY = 'Sign the bytes of the body: the sender did not have them when it signed';

const CONSTANT_ROWS: readonly ChangeRow<undefined, string>[] = [
  [1, 'over no bytes at all', () => ''],
  [
    1,
    'over "[object Object]", the text of an object',
    () => '[object Object]',
    'Sign the JSON text of the message, not the object',
  ],
  [2, 'over {}', () => '{}'],
  [2, 'over the word "undefined"', () => 'undefined'],
  [2, 'over the word "null"', () => 'null'],
];

/** Yields the JSON-stringified body. Signing it is a mistake only with --exact; otherwise its signature is valid. */
function* stringifiedChange(body: KeptBody, cost: Cost): Generator<Changed<string>> {
  const { text = '', json } = body;
  if (cost !== 1 || json === undefined || json === text) return;
  const refined = (): Pick<SignatureChange, 'code' | 'would'> =>
    body.lossy === undefined
      ? { code: whyDiffers(text, json), would: STRINGIFIED }
      : { code: 'lossy-json', would: overLossyBody(body.lossy.loss) };
  yield { code: 'pretty-printed', would: STRINGIFIED, cost, refined, value: json };
}

const STRINGIFIED = 'over the JSON-stringified body';

/** Yields the bytes inside a body that looks odd, such as base64. */
function* insideChanges(body: KeptBody): Generator<Changed<BodyBytes>> {
  for (const { code, says, fix, inside } of bodyLooks(body)) {
    const bytes = inside?.(body);
    if (bytes === undefined) continue;
    yield { code, would: `over what is in it: the body ${says}`, fix, cost: 1, value: bytes };
  }
}

/** Loads zlib on demand, because only a diagnosis needs it. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

const PACKING_ROWS: readonly ChangeRow<Buffer>[] = [
  [1, 'over the unpacked body', (body) => (isPacked(body) ? unpackedBody(body) : undefined)],
];

/** Unpacks gzip or zlib. Undefined if the body is damaged, or unpacks to too much: gigabytes would take too long. */
function unpackedBody(body: Buffer): Buffer | undefined {
  try {
    return zlib().unzipSync(body, {
      maxOutputLength: Math.max(LARGEST_DIAGNOSED, MOST_UNPACKED * body.length),
    });
  } catch {
    return undefined;
  }
}

/** Maximum ratio of unpacked to packed bytes: JSON is never compressed to less than 1/64. */
const MOST_UNPACKED = 64;

const DECODING_ROWS: readonly ChangeRow<string, BodyBytes>[] = [
  [1, 'with its \\x escapes decoded, which nginx writes into logs', hexEscapesDecoded],
  [
    2,
    'with \\n and \\t read as white space, as echo of many shells does',
    (text) => ifHas(text, '\\', (each) => each.replaceAll('\\n', '\n').replaceAll('\\t', '\t')),
  ],
  [
    2,
    'without the backslashes before its quotes',
    (text) => ifHas(text, '\\"', (each) => each.replaceAll('\\"', '"')),
  ],
  [2, 'with its entities decoded', (text) => ifHas(text, '&', decodedEntities)],
];

/** Ways in which programs encode a text before they sign it. */
const TEXT_ROWS: readonly ChangeRow<string, BodyBytes>[] = [
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
  [2, 'stringified twice, as a JSON string', (text) => JSON.stringify(text), STRINGIFY_ONCE],
  [
    2,
    'in UTF-16 with a byte order mark and CRLF at its end, as Out-File of PowerShell writes it',
    (text) => Buffer.from(`\ufeff${text}\r\n`, 'utf16le'),
    AS_UTF_8,
  ],
  [3, 'in UTF-16', (text) => Buffer.from(text, 'utf16le'), AS_UTF_8],
  [3, 'in UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  [3, 'in big-endian UTF-16', (text) => Buffer.from(text, 'utf16le').swap16()],
];

const BYTES_ROWS: readonly ChangeRow<Buffer, BodyBytes>[] = [
  [3, 'over the gzipped body', (body) => zlib().gzipSync(body)],
  [2, 'over its base64', (body) => body.toString('base64')],
  [3, 'over its hex', (body) => body.toString('hex')],
  [3, 'over the text that Python prints for its bytes', pythonBytesText],
];

function hexEscapesDecoded(text: string): Buffer | undefined {
  if (!/\\x[0-9a-f]{2}/i.test(text)) return undefined;
  const latin1 = Buffer.from(text).toString('latin1');
  const bytes = latin1.replace(/\\x([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

function ifHas(text: string, part: string, change: (text: string) => string): string | undefined {
  return text.includes(part) ? change(text) : undefined;
}

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
