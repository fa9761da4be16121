import { isAscii } from 'node:buffer';
import type { Deadline } from '../../../signature/deadline.ts';
import { stringified, utf8TextOf } from '../../../signature/body/json-text.ts';
import { jsonVariants } from './json-variants.ts';
import { whyDiffers } from '../../../signature/body/why-differs.ts';
import { overLossyBody, type ReasonCode } from '../../../signature/reasons.ts';
import { bodyFormOf } from './body-forms.ts';
import type { BodyVariant } from './body-variant.ts';
import { formFieldVariants, formVariants } from './form-variants.ts';
import { LARGEST_DIAGNOSED, type KeptBody } from '../../../signature/body/kept-body.ts';
import { lineVariants } from './line-variants.ts';

/** Yields the common mistakes with a body, the likeliest first. Ends early when the time is up. */
export function* bodyVariants(kept: KeptBody, deadline: Deadline): Generator<BodyVariant> {
  yield* cheapBodyVariants(kept);
  yield* costlyBodyVariants(kept, deadline);
}

/** Yields the mistakes with a body that take at most one pass over it to try. */
export function* cheapBodyVariants(body: KeptBody): Generator<BodyVariant> {
  const { bytes, json } = body;
  yield* lineVariants(bytes);
  yield* constantVariants();
  // Signing the JSON-stringified body is a mistake only with --exact; otherwise its signature is valid.
  if (json !== undefined) yield new StringifiedBody(body, json);
  if (bytes.length <= LARGEST_DIAGNOSED) yield* insideVariants(body);
}

/**
 * Yields the bytes inside a body of a suspicious form, such as base64. Yields them unchanged, then as JSON.stringify writes
 * them.
 */
function* insideVariants(body: KeptBody): Generator<BodyVariant> {
  const found = bodyFormOf(body);
  const inside = found?.inside?.(body);
  if (found === undefined || inside === undefined) return;
  const { code, says, fix } = found;
  const variant = { code, would: `over what is in it: the body ${says}`, fix };
  yield { ...variant, bytes: inside };
  const json = stringified(Buffer.from(inside).toString('utf8'));
  if (json !== undefined) yield { ...variant, bytes: json };
}

/** Yields the mistakes with a body that take longer than one pass over it to try. Ends early when the time is up. */
export function* costlyBodyVariants(kept: KeptBody, deadline: Deadline): Generator<BodyVariant> {
  const { bytes, text, json } = kept;
  if (text !== undefined && json !== undefined) yield* jsonVariants(text, deadline);
  yield* unpackedVariants(bytes);
  if (bytes.length > LARGEST_DIAGNOSED) return;
  if (text !== undefined) {
    yield* json === undefined ? formVariants(text, deadline) : formFieldVariants(text.trim());
  }
  if (json !== undefined) {
    const would = 'over the text that Python prints for it, which is not JSON';
    yield { code: 'object-text', would, bytes: pythonObjectText(json) };
  }
  yield* encodingVariants(bytes);
}

/** Yields texts that broken senders sign instead of the body, the same for every body. */
function* constantVariants(): Generator<BodyVariant> {
  const code = 'other-encoding';
  yield {
    code,
    would: 'over "[object Object]": the sender signed an object instead of its JSON',
    bytes: '[object Object]',
  };
  yield { code, would: 'over no bytes at all: the sender did not have the body when it signed', bytes: '' };
}

/** The JSON-stringified body. `code` is computed when read, because finding it takes as long as trying many guesses. */
class StringifiedBody implements BodyVariant {
  readonly bytes: string;
  readonly #body: KeptBody;

  constructor(body: KeptBody, json: string) {
    this.#body = body;
    this.bytes = json;
  }

  get code(): ReasonCode {
    return this.#body.lossy === undefined ? whyDiffers(this.#body.text ?? '', this.bytes) : 'lossy-json';
  }

  get would(): string {
    const { lossy } = this.#body;
    return lossy === undefined ? 'over the JSON-stringified body' : overLossyBody(lossy.loss);
  }
}

function* unpackedVariants(body: Buffer): Generator<BodyVariant> {
  const code = 'gzip';
  const unpacked = unpackedBody(body);
  if (unpacked === undefined) return;
  yield { code, would: 'over the unpacked body', bytes: unpacked };
  const text = unpacked.length > LARGEST_DIAGNOSED ? undefined : utf8TextOf(unpacked);
  const json = text === undefined ? undefined : stringified(text);
  if (json !== undefined) yield { code, would: 'over the unpacked body, JSON-stringified', bytes: json };
}

/** Ways in which programs encode a body before they sign it. `text` is the body decoded as UTF-8. */
const ENCODINGS: readonly (readonly [
  would: string,
  bytesOf: (text: string, bytes: Buffer) => Buffer | string,
])[] = [
  ['in UTF-16', (text) => Buffer.from(text, 'utf16le')],
  ['in UTF-16 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
  ['in big-endian UTF-16', (text) => Buffer.from(text, 'utf16le').swap16()],
  ['stringified twice, as a JSON string', (text) => JSON.stringify(text)],
  ['over its hex', (_, bytes) => bytes.toString('hex')],
  ['over its base64', (_, bytes) => bytes.toString('base64')],
  ['over the text that Python prints for its bytes', (_, bytes) => pythonBytesText(bytes)],
];

/** Ways to encode a body before signing that differ from UTF-8 only if the body is not all ASCII. */
const UNICODE_ENCODINGS: typeof ENCODINGS = [
  ['in Latin-1', (text) => Buffer.from(text, 'latin1')],
  ['in ASCII, with ? for other characters', (text) => text.replaceAll(/[^\0-\x7f]/gu, '?')],
  ['in ASCII, with ? for other characters, two for an emoji', (text) => text.replaceAll(/[^\0-\x7f]/g, '?')],
  ['in ASCII, without other characters', (text) => text.replaceAll(/[^\0-\x7f]/g, '')],
  ['with its UTF-8 encoded a second time', (_, bytes) => bytes.toString('latin1')],
  ['with U+FFFD in place of what is not UTF-8', (text) => text],
];

function* encodingVariants(body: Buffer): Generator<BodyVariant> {
  const code = 'other-encoding';
  const text = body.toString('utf8');
  for (const [would, bytesOf] of ENCODINGS) yield { code, would, bytes: bytesOf(text, body) };
  if (!isAscii(body)) yield* unicodeVariants(body, text);
  yield { code: 'gzip', would: 'over the gzipped body', bytes: zlib().gzipSync(body) };
}

/**
 * Matches more combining marks in a row than any language has (UAX #15, Stream-Safe Text Format). Sorting them takes time
 * quadratic in their number: minutes for a megabyte.
 */
const MANY_MARKS = /\p{M}{31}/u;

function* unicodeVariants(body: Buffer, text: string): Generator<BodyVariant> {
  const code = 'other-encoding';
  for (const [would, bytesOf] of UNICODE_ENCODINGS) yield { code, would, bytes: bytesOf(text, body) };
  if (MANY_MARKS.test(text)) return;
  yield { code, would: 'in Unicode form NFC', bytes: text.normalize('NFC') };
  yield { code, would: 'in Unicode form NFD', bytes: text.normalize('NFD') };
}

/** Loads zlib on demand, because only a diagnosis needs it. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

/**
 * Limits on the unpacked size, because a small gzip body may unpack to gigabytes. JSON is never compressed to less than
 * 1/64, and unpacking up to these limits takes some milliseconds.
 */
const MOST_UNPACKED_PER_BYTE = 64;
const [LEAST_UNPACKED, MOST_UNPACKED] = [LARGEST_DIAGNOSED, 8 * 1024 * 1024];

/** Unpacks a body; undefined if it is neither gzip nor zlib, or too large unpacked. */
function unpackedBody(body: Buffer): Buffer | undefined {
  const largest = Math.min(MOST_UNPACKED, Math.max(LEAST_UNPACKED, MOST_UNPACKED_PER_BYTE * body.length));
  try {
    return zlib().unzipSync(body, { maxOutputLength: largest });
  } catch {
    return undefined;
  }
}

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
