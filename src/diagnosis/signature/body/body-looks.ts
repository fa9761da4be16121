import { bodyInside, envelopeOf } from '../../../capture/envelopes.ts';
import { printable, withoutRepeated } from '../../../redact.ts';
import { KeptBody, LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import { RAW_BYTES } from '../../../signature/reasons.ts';
import type { Changed } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import type { Bytes, Codec } from '../codecs/codec.ts';
import { BYTE_CODECS, isPacked } from '../codecs/codecs.ts';

/** A body that may have been signed, found inside the received body. `says` describes the received body. */
interface InnerBody extends Required<BodyNote> {
  readonly value: Bytes;
}

/** Finds the body in the JSON of a service, such as an SQS event, or the JSON in other text. Undefined if there is none. */
function innerBody(body: KeptBody): InnerBody | undefined {
  const inside = bodyInside(body.value);
  const envelope = envelopeOf(body.value);
  if (envelope !== undefined && inside !== undefined) {
    return { says: `is ${envelope.what}`, fix: envelope.fix, value: inside };
  }
  const json = jsonInText(body);
  return json === undefined
    ? undefined
    : { says: 'has other text around its JSON', fix: JSON_ALONE, value: json };
}

const JSON_ALONE = `Give the JSON alone: a log, a terminal, a form, a socket and a program that prints bytes have other text around it (--format http reads a whole request). ${RAW_BYTES}`;

/** Returns JSON inside other text: after a log's label, or before zsh's `%`. Undefined for a form (`payload=…`). */
function jsonInText({ text = '', problem }: KeptBody): string | undefined {
  if (problem === undefined || /^[\w.-]+=/.test(text)) return undefined;
  // Requires an object or a list of objects, because other text can begin like JSON: `2024-01-01` begins like a number.
  const json = /\{\s*"[^]*|\[\s*\{[^]*/.exec(text)?.[0] ?? '';
  const { problem: atEnd } = new KeptBody(Buffer.from(json));
  return atEnd === undefined || atEnd.isAfterEnd ? json.slice(0, atEnd?.at).trim() : undefined;
}

/** Returns the body that can be recovered from this one, as a change of cost 1 (likely). Empty if there is none. */
export function innerBodyChanges(body: KeptBody): readonly Changed<Bytes>[] {
  const inner = innerBody(body);
  if (inner === undefined) return [];
  const would = `over what is in it: the body ${inner.says}`;
  return [{ code: 'wrapped-body', would, fix: inner.fix, cost: 1, value: inner.value }];
}

/** A note on an odd body, for a mismatch that nothing explains. The note proves nothing: correct bodies can be odd. */
export interface BodyNote {
  /** Describes the body, in words that follow "The body": `is compressed (gzip, zlib or zstd)`. */
  readonly says: string;
  /** Fix for a body that is probably wrong. Undefined for an oddity of correct bodies, such as compression. */
  readonly fix?: string | undefined;
}

/** Returns a note on the most telling oddity of a body, without the secrets. Undefined if the body has none. */
export function bodyNoteOf(body: KeptBody, secrets: readonly string[]): BodyNote | undefined {
  const inner = innerBody(body);
  if (inner !== undefined) return { says: inner.says };
  const codec = [...BYTE_CODECS, ...CHARACTER_SETS].find((each) => isDecodedJson(each, body));
  if (codec !== undefined) return { says: `is JSON encoded as ${codec.name}` };
  const [, says, fix] = looksOf(body, secrets).find(([isSo]) => isSo) ?? [];
  return says === undefined ? undefined : { says, fix };
}

function isDecodedJson({ decode }: Codec, { bytes }: KeptBody): boolean {
  if (decode === undefined || bytes.length > LARGEST_DIAGNOSED) return false;
  const decoded = Buffer.from(decode({ bytes, text: bytes.toString() }) ?? '');
  const ends = decoded.toString('latin1', 0, 64) + decoded.subarray(-64).toString('latin1');
  return /^\s*[[{][\s\S]*[\]}]\s*$/.test(ends);
}

const CUT_OFF =
  'Verify the whole body: look for a limit on the way, such as a column, a log, the first chunk of a stream, or a Content-Length that is too small';
/** Maximum number of characters to read, and to quote, from a body that is not JSON. */
const [READ, QUOTED] = [1_000, 40];

/** Returns all known oddities of bodies, the most telling first, each with whether this body has it. */
function looksOf({ bytes, head, text = '', problem }: KeptBody, secrets: readonly string[]): readonly Look[] {
  const isCutOff = /^\s*[[{]/.test(head) && problem !== undefined && problem.at >= text.trimEnd().length;
  const beginning = `it begins with "${printable(withoutRepeated(text.slice(0, READ), secrets), QUOTED)}"`;
  return [
    [bytes.length === 0, 'is empty: something has read it before, or it was not sent', READ_ONCE],
    [isPacked(bytes), 'is compressed (gzip, zlib or zstd)'],
    [text.includes('\ufffd'), 'has U+FFFD in it, which mostly stands where characters were lost', KEEP_BYTES],
    [isCutOff, `is JSON that is cut off after ${bytes.length} bytes`, CUT_OFF],
    [PRINTED.test(head), `is a value as a program prints it: ${beginning}`, SIGN_JSON],
    [problem !== undefined, `is not JSON: ${beginning}`],
  ];
}

type Look = readonly [isSo: boolean, says: string, fix?: string];

const READ_ONCE = `${RAW_BYTES}; a stream can be read once`;
const KEEP_BYTES = `Keep the body as bytes: it was decoded chunk by chunk, or as UTF-8 although it is not UTF-8. ${RAW_BYTES}`;
const SIGN_JSON = `Sign and send the JSON text of the message. ${RAW_BYTES}`;

/** Matches the start of a value as JavaScript, PHP, Python, Ruby, Go, Java or .NET prints it, such as Go's `map[`. */
const PRINTED =
  /^\s*(?:\[object \w+\]\s*$|Array\s*(?:$|\()|array\(\d|\{\s*'[^']*':|b['"]|\{\s*(?:"[^"]*"|:\w+)\s*=>|map\[|\{\w+=|<Buffer |System\.\w|\{ \w+: ')/;
