import { bodyText, readJsonText, stringified, withoutNewlines, type JsonNode } from './json-text.ts';
import type { KeptBody } from './kept-body.ts';
import type { ReasonCode } from './reason.ts';
import { spell, type Write } from './spell.ts';
import { SPELLINGS, type Spelling } from './spelling.ts';
import { whyDiffers } from './why-differs.ts';

/** Other bytes that the signature may have been computed over. A string stands for its UTF-8. */
export interface BodyVariant {
  readonly code: ReasonCode;
  /** Follows "it would match". */
  readonly would: string;
  readonly bytes: Uint8Array | string | Pieces;
}

/** What is too large to be made as a whole writes itself. */
export type Pieces = (write: Write) => void;

/** A small gzip body may unpack to gigabytes. */
const LARGEST_UNPACKED = 8 * 1024 * 1024;

/** Twice what a batch may have (contract, Batching client). Larger bodies are not copied into every encoding there is. */
const LARGEST_ENCODED = 1_000_000;

/** What usually goes wrong with a body, the likeliest first. Each is made only when it is asked for. */
export function* bodyVariants(kept: KeptBody): Generator<BodyVariant> {
  const { bytes: body } = kept;
  yield* lineVariants(body);
  const { text, json } = kept;
  if (text !== undefined && json !== undefined) yield* jsonVariants(text, json);
  yield* unpackedVariants(body);
  if (body.length > LARGEST_ENCODED) return;
  if (text !== undefined) yield* json === undefined ? formVariants(text) : formFieldVariants(text.trim());
  yield* encodingVariants(body);
}

/** On bytes (as Latin-1, which keeps them), since the body need not be UTF-8. */
function* lineVariants(body: Buffer): Generator<BodyVariant> {
  const text = body.toString('latin1');
  const bom = '\u00ef\u00bb\u00bf';
  const variant = (code: ReasonCode, would: string, changed: string): BodyVariant[] =>
    changed === text ? [] : [{ code, would, bytes: Buffer.from(changed, 'latin1') }];
  const withoutBom = text.startsWith(bom) ? text.slice(bom.length) : text;
  const lf = text.replaceAll('\r\n', '\n');
  yield* variant('trailing-newline', 'without the trailing newline', text.replace(/\r?\n$/, ''));
  yield* variant('trailing-newline', 'without the trailing newlines', withoutNewlines(text));
  yield* variant('bom', 'without the byte order mark', withoutBom);
  yield* variant(
    'bom',
    'without the byte order mark and the trailing newline',
    withoutBom.replace(/\r?\n$/, ''),
  );
  if (withoutBom === text) yield* variant('bom', 'with a byte order mark in front', bom + text);
  yield* variant('crlf', 'with LF for CRLF', lf);
  yield* variant('crlf', 'with LF for CRLF and without the trailing newline', lf.replace(/\n$/, ''));
  const crlf = lf.replaceAll('\n', '\r\n');
  yield* variant('crlf', 'with CRLF for LF', crlf);
  yield* variant('crlf', 'with CRLF for LF and without the trailing newline', crlf.replace(/\r\n$/, ''));
}

function* jsonVariants(text: string, json: string): Generator<BodyVariant> {
  // What a verdict accepts without --exact comes as a diagnosis with it.
  yield new StringifiedBody(text, json);
  const node = readJsonText(text);
  // First, because one message takes less than all of them.
  yield* listVariants(node, text.trim());
  for (const how of SPELLINGS) yield { code: how.code, would: how.would, bytes: pieces(node, how) };
  if (node.kind === 'string') {
    yield { code: 'other-encoding', would: 'over the text inside the JSON string', bytes: node.text };
  }
}

class StringifiedBody implements BodyVariant {
  readonly would = 'over the JSON-stringified body';
  readonly bytes: string;
  readonly #text: string;

  constructor(text: string, json: string) {
    this.#text = text;
    this.bytes = json;
  }

  /** Found when it is asked for: it takes as long as many guesses. */
  get code(): ReasonCode {
    return whyDiffers(this.#text, this.bytes);
  }
}

function* listVariants(node: JsonNode, text: string): Generator<BodyVariant> {
  const code = 'first-of-array';
  const first = firstMessage(node);
  if (first === undefined) {
    yield { code, would: 'with the message in a list', bytes: `[${text}]` };
    yield { code, would: 'with the message in a batch', bytes: `{"batch":[${text}]}` };
    return;
  }
  for (const how of SPELLINGS) {
    const would = `over the first message of the list alone, ${how.would}`;
    yield { code, would, bytes: pieces(first, how) };
  }
}

function pieces(node: JsonNode, how: Spelling): Pieces {
  return (write) => {
    spell(node, how, write);
  };
}

/** Of `[…]` or `{"batch":[…]}`. */
function firstMessage(node: JsonNode): JsonNode | undefined {
  if (node.kind === 'array') return node.items[0];
  if (node.kind !== 'object') return undefined;
  const batch = node.members.find(({ key }) => key === 'batch')?.value;
  return batch?.kind === 'array' ? batch.items[0] : undefined;
}

/** The body is a form or percent-encoded, the signature is over the JSON in it. */
function* formVariants(text: string): Generator<BodyVariant> {
  const code = 'url-encoded';
  const decoded = percentDecoded(text);
  if (decoded !== undefined && decoded !== text)
    yield { code, would: 'with the percent-encoding taken off', bytes: decoded };
  if (!/^[^\s={["]{1,100}=/.test(text)) return;
  for (const [, value] of new URLSearchParams(text)) {
    const would = 'over the value of the form field alone';
    yield { code, would, bytes: value };
    const json = stringified(value);
    if (json !== undefined) yield { code, would: `${would}, JSON-stringified`, bytes: json };
  }
}

/** The other way about: the signature is over the form, the body is the JSON that was in it. */
function* formFieldVariants(text: string): Generator<BodyVariant> {
  const code = 'url-encoded';
  const spellings = percentEncoded(text);
  for (const bytes of spellings) yield { code, would: 'percent-encoded', bytes };
  for (const field of ['payload', 'body', 'data']) {
    for (const encoded of spellings) {
      yield { code, would: `as the form field "${field}"`, bytes: `${field}=${encoded}` };
    }
  }
}

/** As the libraries of JavaScript, PHP (`rawurlencode`, `urlencode`) and Python (`quote`, `quote_plus`) spell it. */
function percentEncoded(text: string): readonly string[] {
  const javaScript = encodeURIComponent(text);
  const strict = javaScript.replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return [
    javaScript,
    strict,
    strict.replaceAll('%2F', '/'),
    strict.replaceAll('%20', '+'),
    strict.replaceAll('~', '%7E').replaceAll('%20', '+'),
    new URLSearchParams({ '': text }).toString().slice(1),
  ];
}

function* unpackedVariants(body: Buffer): Generator<BodyVariant> {
  const code = 'gzip';
  const unpacked = gunzipped(body);
  if (unpacked === undefined) return;
  yield { code, would: 'over the unpacked body', bytes: unpacked };
  const text = bodyText(unpacked);
  const json = text === undefined ? undefined : stringified(text);
  if (json !== undefined) yield { code, would: 'over the unpacked body, JSON-stringified', bytes: json };
}

function* encodingVariants(body: Buffer): Generator<BodyVariant> {
  const code = 'other-encoding';
  const text = body.toString('utf8');
  yield { code, would: 'in UTF-16', bytes: Buffer.from(text, 'utf16le') };
  yield { code, would: 'in Latin-1', bytes: Buffer.from(text, 'latin1') };
  yield { code, would: 'with its UTF-8 encoded a second time', bytes: body.toString('latin1') };
  yield { code, would: 'with what is not UTF-8 replaced by U+FFFD', bytes: text };
  yield { code, would: 'in Unicode form NFC', bytes: text.normalize('NFC') };
  yield { code, would: 'in Unicode form NFD', bytes: text.normalize('NFD') };
  yield { code: 'gzip', would: 'over the gzipped body', bytes: zlib().gzipSync(body) };
  yield { code, would: 'stringified twice, as a JSON string', bytes: JSON.stringify(text) };
  yield {
    code,
    would: 'over "[object Object]": the sender signed an object instead of its JSON',
    bytes: '[object Object]',
  };
  yield { code, would: 'over its hex', bytes: body.toString('hex') };
  yield { code, would: 'over its base64', bytes: body.toString('base64') };
  yield { code, would: 'over no bytes at all: the sender had nothing of the body when it signed', bytes: '' };
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Loaded when something does not match: most bodies are verified without it. */
function zlib(): typeof import('node:zlib') {
  return process.getBuiltinModule('node:zlib');
}

/** Undefined when it is no gzip, or unpacks to too much. */
function gunzipped(body: Buffer): Buffer | undefined {
  try {
    return zlib().gunzipSync(body, { maxOutputLength: LARGEST_UNPACKED });
  } catch {
    return undefined;
  }
}
