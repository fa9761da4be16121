import { bodyInside, envelopeOf } from '../../../capture/envelopes.ts';
import { printable } from '../../../redact.ts';
import { LARGEST_DIAGNOSED, type KeptBody } from '../../../signature/body/kept-body.ts';
import { RAW_BYTES, type ReasonCode } from '../../../signature/reasons.ts';
import { CHARACTER_SETS } from '../codecs/character-sets.ts';
import type { Bytes, Codec } from '../codecs/codec.ts';
import { isPacked } from '../codecs/codec-texts.ts';
import { BYTE_CODECS } from '../codecs/codecs.ts';
import { isCutCharacter, jsonAfterText, jsonThenMore, onlyObject, unchunked } from './decoders.ts';

type Inside = (body: KeptBody) => Uint8Array | string | undefined;

/** A recognizable look of a body. Many correct bodies look odd, so a look alone never explains a mismatch. */
interface Look {
  /** Reason code if the signature matches the bytes of `inside`. @default none, because nothing can be recovered */
  readonly code?: ReasonCode;
  /** Describes a body that looks like this; follows "the body": `is empty`. Undefined for other bodies. */
  readonly says: (body: KeptBody) => string | undefined;
  /** How to get the right body. Undefined if correct bodies look like this too, because other causes are as likely. */
  readonly fix?: string | ((body: KeptBody) => string);
  /** Recovers the bytes that may have been signed; undefined if this body has lost them. */
  readonly inside?: Inside;
  /** Whether the look shows that the body is not what was sent. @default false, because correct bodies can look odd */
  readonly isDamaged?: true;
}

/** A look that was found in a body, with the texts for this body. */
export interface BodyLook {
  readonly code: ReasonCode;
  readonly inside?: Inside;
  readonly says: string;
  readonly fix: string | undefined;
  readonly isDamaged: boolean;
}

/** Yields the odd looks of a body, the most telling first. */
export function bodyLooks(body: KeptBody): Generator<BodyLook> {
  return looksOf(body, LOOKS);
}

/** Yields the looks of a body that has the right body inside, such as an envelope. */
export function wrappedLooks(body: KeptBody): Generator<BodyLook> {
  return looksOf(body, WRAPPED_LOOKS);
}

function* looksOf(body: KeptBody, looks: readonly Look[]): Generator<BodyLook> {
  for (const { code = 'no-match', says, fix, inside, isDamaged = false } of looks) {
    const found = says(body);
    if (found === undefined) continue;
    const ownFix = typeof fix === 'function' ? fix(body) : fix;
    yield { code, says: found, isDamaged, fix: ownFix, ...(inside && { inside }) };
  }
}

/** Makes the look of JSON that a codec decodes. It has no `inside`, because the search decodes every body. */
function encodedLook({ name, decode }: Codec): Look {
  return {
    says: ({ bytes }) => {
      const isLarge = bytes.length > LARGEST_DIAGNOSED;
      const decoded = isLarge ? undefined : decode?.({ bytes, text: bytes.toString() });
      return decoded !== undefined && isJsonText(decoded) ? `is JSON encoded as ${name}` : undefined;
    },
  };
}

function isJsonText(decoded: Bytes): boolean {
  const bytes = Buffer.from(decoded);
  const ends = bytes.toString('latin1', 0, 64) + bytes.subarray(-64).toString('latin1');
  return /^\s*[[{][\s\S]*[\]}]\s*$/.test(ends);
}

/** Makes the look of a wrapped body: a body has it if `inside` recovers the original bytes. */
function recovered(code: ReasonCode, inside: Inside, says: string, fix?: string): Look {
  return {
    code,
    says: (body) => (inside(body) === undefined ? undefined : says),
    inside,
    ...(fix && { fix }),
  };
}

/** Minimum bytes of a body that counts as cut off. A shorter one that ends within a character is in another encoding. */
const LEAST_CUT = 64;
const CUT_OFF =
  'Verify the whole body: look for a limit on the way, such as a column, a log, the first chunk of a stream, or a Content-Length that is too small';
/** Maximum characters of a body that is not JSON to quote. */
const QUOTED = 40;

const LOOKS: readonly Look[] = [
  {
    says: ({ bytes }) =>
      bytes.length === 0 ? 'is empty: something has read it before, or it was not sent' : undefined,
    isDamaged: true,
    fix: `${RAW_BYTES}; a stream can be read once`,
  },
  {
    code: 'wrapped-body',
    says: ({ head }) =>
      /^[A-Z]{3,7} \S+ HTTP\/\d/.test(head) ? 'is a whole HTTP request, which holds the body' : undefined,
    inside: ({ text }) => text?.replace(/^[\s\S]*?\r?\n\r?\n/, ''),
    fix: 'Give --format http, or the body alone: what follows the empty line',
  },
  {
    code: 'other-encoding',
    says: ({ text = '' }) =>
      /^\s*[[{\s]*[\u201c-\u201f]/.test(text) ? 'has typographic quotes, so it is not JSON' : undefined,
    inside: ({ text }) => text?.replaceAll(/[\u201c-\u201f]/g, '"'),
    fix: 'Give the body as it came: a chat, a word processor or a page replaced its quotes',
  },
  {
    code: 'wrapped-body',
    says: ({ head }) => (MULTIPART.test(head) ? 'is a multipart form' : undefined),
    inside: ({ text }) => text?.match(/\r?\n\r?\n([\s\S]*?)\r?\n--/)?.[1],
    fix: 'Send the JSON itself as the body, with Content-Type: application/json, not as a field of a form',
  },
  {
    code: 'chunked',
    says: ({ bytes, head }) =>
      /^[0-9a-f]{1,8}(?:;[^\r\n]*)?\r?\n/i.test(head) &&
      /\n0\r?\n\s*$/.test(bytes.subarray(-16).toString('latin1'))
        ? 'has the lengths of its chunks in it (Transfer-Encoding: chunked)'
        : undefined,
    inside: ({ bytes }) => unchunked(bytes),
    fix: 'Take the body from the HTTP server, which puts the chunks together, not from the socket',
  },
  {
    code: 'wrapped-body',
    says: ({ value }) => {
      const what = envelopeOf(value)?.what;
      return what && `is ${what}`;
    },
    inside: ({ value }) => bodyInside(value),
    fix: ({ value }) => envelopeOf(value)?.fix ?? RAW_BYTES,
  },
  ...[...BYTE_CODECS, ...CHARACTER_SETS].map(encodedLook),
  {
    code: 'gzip',
    says: ({ bytes }) => (isPacked(bytes) ? 'is compressed (gzip, zlib or zstd)' : undefined),
    fix: 'Sign and verify the same bytes: mostly the uncompressed ones; express.raw({ inflate: true }) and most servers unpack them',
  },
  {
    says: ({ bytes }) =>
      isCutCharacter(bytes) && bytes.length >= LEAST_CUT
        ? `is cut off within a character, after ${bytes.length} bytes`
        : undefined,
    isDamaged: true,
    fix: CUT_OFF,
  },
  {
    says: ({ text }) =>
      text?.includes('\ufffd') === true
        ? 'has U+FFFD in it, which mostly stands where characters were lost'
        : undefined,
    isDamaged: true,
    fix: `Keep the body as bytes: it was decoded chunk by chunk, or as UTF-8 although it is not UTF-8. ${RAW_BYTES}`,
  },
  {
    says: (body) => (isCutJson(body) ? cutOffAt(body.bytes.length) : undefined),
    isDamaged: true,
    fix: CUT_OFF,
  },
  recovered(
    'wrapped-body',
    jsonAfterText,
    'has text before its JSON, as a line of a log',
    'Give the JSON alone, as it came: a log that prints the message again has other bytes',
  ),
  recovered(
    'wrapped-body',
    jsonThenMore,
    'is JSON with something after its end',
    'Give this body alone: nothing that a shell prints after it, and no second request',
  ),
  recovered('wrapped-body', onlyObject, 'is an object around another one'),
  {
    says: ({ head, text }) =>
      PRINTED.test(head) ? `is a value as a program prints it: ${beginning(text)}` : undefined,
    isDamaged: true,
    fix: `Sign and send the JSON text of the message. ${RAW_BYTES}`,
  },
  {
    says: ({ text, problem }) => (problem === undefined ? undefined : `is not JSON: ${beginning(text)}`),
  },
];

const WRAPPED_LOOKS = LOOKS.filter(({ inside }) => inside !== undefined);

const MULTIPART = /^--[^\r\n]{1,70}\r?\nContent-Disposition: form-data/i;

/** Matches values as JavaScript, PHP, Python, Ruby, Go, Java, Node and .NET print them. */
const PRINTED =
  /^\s*(?:\[object \w+\]\s*$|Array\s*(?:$|\()|array\(\d|\{\s*'[^']*':|b['"]|\{\s*(?:"[^"]*"|:\w+)\s*=>|map\[|\{\w+=|<Buffer |System\.\w|\{ \w+: ')/;

function beginning(text = ''): string {
  return `it begins with "${printable(text, QUOTED)}"`;
}

function isCutJson({ head, text = '', problem }: KeptBody): boolean {
  return /^\s*[[{]/.test(head) && problem !== undefined && problem.at >= text.trimEnd().length;
}

/** Sizes in bytes at which columns and buffers commonly cut off a text. */
const KNOWN_LIMITS: Readonly<Record<number, string>> = {
  255: 'the size of a VARCHAR(255)',
  65_535: 'the size of a TEXT column of MySQL',
  102_400: '100 KiB, the limit of express.json()',
};

function cutOffAt(bytes: number): string {
  const isPower = bytes >= 1_024 && Number.isInteger(Math.log2(bytes));
  const limit = KNOWN_LIMITS[bytes] ?? (isPower ? `${bytes / 1_024} KiB` : undefined);
  return `is JSON that is cut off after ${bytes} bytes${limit === undefined ? '' : ` (${limit})`}`;
}
