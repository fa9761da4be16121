import {
  base64Json,
  charactersLost,
  firstBadByte,
  hexJson,
  isCutCharacter,
  isPacked,
  isPlainText,
  jsonAfterText,
  jsonThenMore,
  listedBytes,
  onlyObject,
  twiceEncoded,
  unchunked,
  utf16Order,
  utf16Text,
  windowsText,
} from './decoders.ts';
import { bodyInside, envelopeOf } from '../../../capture/envelopes.ts';
import { orderOfKeys } from './key-order.ts';
import type { KeptBody } from '../../../signature/body/kept-body.ts';
import { OTHER_TEXTS } from './other-texts.ts';
import { RAW_BYTES } from '../../../signature/reasons.ts';
import type { BodyForm } from './body-variant.ts';

interface FoundForm extends Pick<BodyForm, 'code' | 'isHint' | 'inside'> {
  readonly says: string;
  readonly fix: string;
}

/** Finds the likeliest suspicious form of a body; undefined if there is none. */
export function bodyFormOf(body: KeptBody): FoundForm | undefined {
  for (const form of BODY_FORMS) {
    const { fix } = form;
    const says = form.says(body);
    if (says !== undefined) return { ...form, says, fix: typeof fix === 'string' ? fix : fix(body) };
  }
  return undefined;
}

/** Makes `says` and `inside` of a form that a body has if `inside` recovers bytes from it. */
function recoveredBy(
  inside: NonNullable<BodyForm['inside']>,
  says: string,
): Pick<BodyForm, 'says' | 'inside'> {
  return { says: (body) => (inside(body) === undefined ? undefined : says), inside };
}

const CUT_OFF =
  'Verify the whole body: look for a limit on the way, such as a column, a log, the first chunk of a stream, or a Content-Length that is too small';

const BODY_FORMS: readonly BodyForm[] = [
  {
    code: 'empty-body',
    says: ({ bytes }) =>
      bytes.length === 0 ? 'is empty: something has read it before, or it was not sent' : undefined,
    fix: `${RAW_BYTES}; a stream can be read once`,
  },
  ...OTHER_TEXTS,
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
    says: (body) => {
      const what = envelopeOf(body.value)?.what;
      return what && `is ${what}`;
    },
    inside: ({ value }) => bodyInside(value),
    fix: (body) => envelopeOf(body.value)?.fix ?? RAW_BYTES,
  },
  {
    code: 'encoded-body',
    ...recoveredBy(base64Json, 'is the base64 of JSON'),
    fix: 'Decode it first: Buffer.from(body, "base64"), base64.b64decode(body); a gateway says so with isBase64Encoded',
  },
  {
    code: 'encoded-body',
    ...recoveredBy(hexJson, 'is the hex of JSON, as a column of bytes shows it'),
    fix: 'Decode it first: Buffer.from(body, "hex"), bytes.fromhex(body)',
  },
  {
    code: 'encoded-body',
    ...recoveredBy(
      listedBytes,
      'is a list of the decimal values of bytes, as String(new Uint8Array(body)) writes it',
    ),
    fix: 'Give the bytes themselves: Buffer.from(body), or new TextDecoder().decode(body) for text',
  },
  {
    code: 'utf-16',
    says: ({ bytes }) =>
      utf16Order(bytes) === undefined ? undefined : 'is UTF-16: every second byte is zero',
    inside: ({ bytes }) => utf16Text(bytes),
    fix: 'Keep the body as the bytes that came: PowerShell writes UTF-16 with >, Out-File without -Encoding utf8 and Set-Content do too',
  },
  {
    code: 'gzip',
    says: ({ bytes }) => (isPacked(bytes) ? 'is compressed (gzip, zlib or zstd)' : undefined),
    fix: 'Sign and verify the same bytes: mostly the uncompressed ones; express.raw({ inflate: true }) and most servers unpack them',
  },
  {
    code: 'cut-off',
    says: ({ bytes }) =>
      isCutCharacter(bytes) ? `is cut off within a character, after ${bytes.length} bytes` : undefined,
    fix: CUT_OFF,
  },
  {
    code: 'latin-1',
    says: ({ bytes, text }) =>
      text === undefined && isPlainText(bytes) ? `is not UTF-8: ${badByteOf(bytes)}` : undefined,
    inside: ({ bytes }) => windowsText(bytes),
    fix: 'Read and write the body as UTF-8, or better as bytes: latin1 and windows-1252 are the default of some databases, editors and requests.text',
  },
  {
    code: 'latin-1',
    ...recoveredBy(twiceEncoded, 'is UTF-8 that was taken for Latin-1 and encoded again'),
    fix: 'Read the body as UTF-8, or better as bytes: requests.text, a database connection and an old editor take it for Latin-1',
  },
  {
    code: 'lost-characters',
    says: (body) =>
      charactersLost(body) ? 'has U+FFFD in it, which stands where characters were lost' : undefined,
    fix: `Keep the body as bytes: it was decoded as UTF-8 and was not, or chunk by chunk. ${RAW_BYTES}`,
  },
  {
    code: 'cut-off',
    says: (body) => (isCutJson(body) ? cutOffAt(body.bytes.length) : undefined),
    fix: CUT_OFF,
  },
  {
    code: 'wrapped-body',
    ...recoveredBy(jsonAfterText, 'has text before its JSON, as a line of a log'),
    fix: 'Give the JSON alone, as it came: a log that prints the message again has other bytes',
  },
  {
    code: 'wrapped-body',
    ...recoveredBy(jsonThenMore, 'is JSON with something after its end'),
    fix: 'Give this body alone: nothing that a shell prints after it, and no second request',
  },
  {
    code: 'reordered-keys',
    isHint: true,
    says: ({ value }) => orderOfKeys(value),
    fix: `Keep the bytes in a text or bytea column, not in jsonb or a map. ${RAW_BYTES}`,
  },
  {
    code: 'pretty-printed',
    isHint: true,
    says: ({ text, json }) =>
      json !== undefined && text !== json && /^\s*[[{]\s/.test(text ?? '')
        ? 'is indented, so something may have written it again'
        : undefined,
    fix: RAW_BYTES,
  },
  {
    code: 'wrapped-body',
    isHint: true,
    ...recoveredBy(onlyObject, 'is an object around another one'),
    fix: RAW_BYTES,
  },
];

function badByteOf(bytes: Buffer): string {
  const index = firstBadByte(bytes);
  const byte = bytes.subarray(index, index + 1);
  return `byte ${index + 1} is 0x${byte.toString('hex')}, "${windowsText(byte)}" in Latin-1`;
}

function isCutJson({ head, text, problem }: KeptBody): boolean {
  return /^\s*[[{]/.test(head) && problem !== undefined && problem.at === text?.length;
}

/** Sizes in bytes at which columns and buffers commonly cut off a text. */
const KNOWN_LIMITS: Readonly<Record<number, string>> = {
  255: 'the size of a VARCHAR(255)',
  1_024: '1 KiB',
  4_096: '4 KiB',
  8_192: '8 KiB',
  16_384: '16 KiB',
  32_768: '32 KiB',
  65_535: 'the size of a TEXT column of MySQL',
  65_536: '64 KiB',
  102_400: '100 KiB, the limit of express.json()',
};

function cutOffAt(bytes: number): string {
  const limit = KNOWN_LIMITS[bytes];
  return `is JSON that is cut off after ${bytes} bytes${limit === undefined ? '' : ` (${limit})`}`;
}
