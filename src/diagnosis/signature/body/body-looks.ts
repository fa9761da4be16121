import { bodyInside, envelopeOf } from '../../../capture/envelopes.ts';
import { printable } from '../../../redact.ts';
import { LARGEST_DIAGNOSED, type KeptBody } from '../../../signature/body/kept-body.ts';
import { RAW_BYTES, type ReasonCode } from '../../../signature/reasons.ts';
import type { Changed } from '../change.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import type { Bytes, Codec } from '../codecs/codec.ts';
import { isPacked, plainQuotes } from '../codecs/codec-texts.ts';
import { BYTE_CODECS } from '../codecs/codecs.ts';
import { jsonAfterText, jsonThenMore, unchunked } from './wrapped-json.ts';

/** A kind of received body from which the signed body may be recovered, such as an SQS event or a multipart form. */
interface Wrapping {
  readonly code: ReasonCode;
  /** Describes the received body, in words that follow "the body": `is a multipart form`. */
  readonly says: string | ((body: KeptBody) => string);
  readonly fix: string | ((body: KeptBody) => string);
  /** Returns the recovered body, such as the JSON in an SQS event. Undefined if there is none to recover. */
  readonly inside: (body: KeptBody) => Bytes | undefined;
}

/** Returns the bodies that can be recovered from this one, each as a change of cost 1 (likely). */
export function wrappedChanges(body: KeptBody): readonly Changed<Bytes>[] {
  return WRAPPINGS.flatMap(({ code, says, fix, inside }) => {
    const value = inside(body);
    if (value === undefined) return [];
    const would = `over what is in it: the body ${textFor(body, says)}`;
    return [{ code, would, fix: textFor(body, fix), cost: 1, value }];
  });
}

function textFor(body: KeptBody, text: string | ((body: KeptBody) => string)): string {
  return typeof text === 'string' ? text : text(body);
}

/** A note on an odd body, for a mismatch that nothing explains. The note proves nothing: correct bodies can be odd. */
export interface BodyNote {
  /** Describes the body, in words that follow "The body": `is compressed (gzip, zlib or zstd)`. */
  readonly says: string;
  /** How to get the body that was signed. Undefined if the oddity does not suggest that this body is wrong. */
  readonly fix?: string | undefined;
}

/** Returns a note on the most telling oddity of a body. Undefined if the body has none. */
export function bodyNoteOf(body: KeptBody): BodyNote | undefined {
  const wrapping = WRAPPINGS.find(({ inside }) => inside(body) !== undefined);
  if (wrapping !== undefined) return { says: textFor(body, wrapping.says) };
  const codec = [...BYTE_CODECS, ...CHARACTER_SETS].find((each) => isDecodedJson(each, body));
  if (codec !== undefined) return { says: `is JSON encoded as ${codec.name}` };
  for (const [says, fix] of LOOKS) {
    const found = says(body);
    if (found !== undefined) return { says: found, fix };
  }
  return undefined;
}

function isDecodedJson({ decode }: Codec, { bytes }: KeptBody): boolean {
  if (decode === undefined || bytes.length > LARGEST_DIAGNOSED) return false;
  const decoded = Buffer.from(decode({ bytes, text: bytes.toString() }) ?? '');
  const ends = decoded.toString('latin1', 0, 64) + decoded.subarray(-64).toString('latin1');
  return /^\s*[[{][\s\S]*[\]}]\s*$/.test(ends);
}

const WRAPPINGS: readonly Wrapping[] = [
  {
    code: 'wrapped-body',
    says: 'is a whole HTTP request, which holds the body',
    inside: ({ text }) => text?.match(/^[A-Z]{3,7} \S+ HTTP\/\d[\s\S]*?\r?\n\r?\n([\s\S]*)$/)?.[1],
    fix: 'Give --format http, or the body alone: what follows the empty line',
  },
  {
    code: 'other-encoding',
    says: 'has typographic quotes, so it is not JSON',
    inside: ({ text = '' }) => (/^\s*[[{\s]*[\u201c-\u201f]/.test(text) ? plainQuotes(text) : undefined),
    fix: 'Give the body as it came: a chat, a word processor or a page replaced its quotes',
  },
  {
    code: 'wrapped-body',
    says: 'is a multipart form',
    inside: ({ text }) =>
      text?.match(
        /^--[^\r\n]{1,70}\r?\nContent-Disposition: form-data[\s\S]*?\r?\n\r?\n([\s\S]*?)\r?\n--/i,
      )?.[1],
    fix: 'Send the JSON itself as the body, with Content-Type: application/json, not as a field of a form',
  },
  {
    code: 'chunked',
    says: 'has the lengths of its chunks in it (Transfer-Encoding: chunked)',
    inside: unchunked,
    fix: 'Take the body from the HTTP server, which puts the chunks together, not from the socket',
  },
  {
    code: 'wrapped-body',
    says: ({ value }) => `is ${envelopeOf(value)?.what}`,
    inside: ({ value }) => bodyInside(value),
    fix: ({ value }) => envelopeOf(value)?.fix ?? RAW_BYTES,
  },
  {
    code: 'wrapped-body',
    says: 'has text before its JSON, as a line of a log',
    inside: jsonAfterText,
    fix: 'Give the JSON alone, as it came: a log that prints the message again has other bytes',
  },
  {
    code: 'wrapped-body',
    says: 'is JSON with something after its end',
    inside: jsonThenMore,
    fix: 'Give this body alone: nothing that a shell prints after it, and no second request',
  },
];

const CUT_OFF =
  'Verify the whole body: look for a limit on the way, such as a column, a log, the first chunk of a stream, or a Content-Length that is too small';
/** Maximum number of characters to quote from a body that is not JSON. */
const QUOTED = 40;

/** Oddities of a body, the most telling first. `says` returns a description, or undefined if the oddity is absent. */
const LOOKS: readonly (readonly [says: (body: KeptBody) => string | undefined, fix?: string])[] = [
  [
    ({ bytes }) =>
      bytes.length === 0 ? 'is empty: something has read it before, or it was not sent' : undefined,
    `${RAW_BYTES}; a stream can be read once`,
  ],
  [({ bytes }) => (isPacked(bytes) ? 'is compressed (gzip, zlib or zstd)' : undefined)],
  [
    ({ text }) =>
      text?.includes('\ufffd') === true
        ? 'has U+FFFD in it, which mostly stands where characters were lost'
        : undefined,
    `Keep the body as bytes: it was decoded chunk by chunk, or as UTF-8 although it is not UTF-8. ${RAW_BYTES}`,
  ],
  [
    ({ head, text = '', bytes, problem }) =>
      /^\s*[[{]/.test(head) && problem !== undefined && problem.at >= text.trimEnd().length
        ? `is JSON that is cut off after ${bytes.length} bytes`
        : undefined,
    CUT_OFF,
  ],
  [
    ({ head, text }) =>
      PRINTED.test(head) ? `is a value as a program prints it: ${beginning(text)}` : undefined,
    `Sign and send the JSON text of the message. ${RAW_BYTES}`,
  ],
  [({ text, problem }) => (problem === undefined ? undefined : `is not JSON: ${beginning(text)}`)],
];

/** Matches the start of a value as JavaScript, PHP, Python, Ruby, Go, Java or .NET prints it, such as Go's `map[`. */
const PRINTED =
  /^\s*(?:\[object \w+\]\s*$|Array\s*(?:$|\()|array\(\d|\{\s*'[^']*':|b['"]|\{\s*(?:"[^"]*"|:\w+)\s*=>|map\[|\{\w+=|<Buffer |System\.\w|\{ \w+: ')/;

function beginning(text = ''): string {
  return `it begins with "${printable(text, QUOTED)}"`;
}
