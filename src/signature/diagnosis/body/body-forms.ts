import {
  base64Json,
  charactersLost,
  firstBadByte,
  hexJson,
  isCutCharacter,
  isPacked,
  isPlainText,
  jsonThenMore,
  twiceEncoded,
  unchunked,
  utf16Order,
  utf16Text,
  windowsText,
} from './decoders.ts';
import { bodyInside, envelopeOf } from './envelopes.ts';
import { orderOfKeys } from '../json/key-order.ts';
import type { KeptBody } from './kept-body.ts';
import { RAW_BYTES, type ReasonCode } from '../reasons.ts';

/** What a body is that cannot be the one that was signed, or that something has changed. */
export interface BodyForm {
  readonly code: ReasonCode;
  /** Follows "the body ": `is empty`. Undefined for a body of another form. */
  readonly says: (body: KeptBody) => string | undefined;
  readonly fix: string | ((body: KeptBody) => string);
  /** The bytes that may have been signed; without it, or where it is undefined, they are lost. */
  readonly inside?: (body: KeptBody) => Uint8Array | string | undefined;
  /** The body may still be as it was signed: other causes are as likely. */
  readonly isHint?: true;
}

/** The form of a body and what it says of it, the likeliest; undefined for a body like any other. */
export function bodyFormOf(body: KeptBody): { readonly form: BodyForm; readonly says: string } | undefined {
  for (const form of BODY_FORMS) {
    const says = form.says(body);
    if (says !== undefined) return { form, says };
  }
  return undefined;
}

/** Whether the start of a body looks like this. */
function starts(pattern: RegExp, says: string): BodyForm['says'] {
  return ({ head }) => (pattern.test(head) ? says : undefined);
}

/** A text that a language makes of an object. */
function objectText(pattern: RegExp, says: string, fix: string): BodyForm {
  return { code: 'object-text', says: starts(pattern, says), fix };
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
  objectText(
    /^\s*\[object \w+\]\s*$/,
    'is the text that JavaScript makes of an object',
    `Sign and send JSON.stringify(message), and in a receiver verify the bytes: express.raw(), not String(req.body)`,
  ),
  objectText(
    /^\s*Array\s*$/,
    'is the text that PHP makes of an array',
    "Sign and send json_encode($message), and in a receiver verify file_get_contents('php://input')",
  ),
  objectText(
    /^\s*[[{]\s*'|^\s*\{[^"]*: (?:None|True|False)\b/,
    'is a Python object as str() writes it, not JSON',
    'Sign and send json.dumps(message), and in a receiver verify request.get_data(), not str(request.json)',
  ),
  objectText(
    /^b'[^']*'\s*$|^b"/,
    'is bytes as Python prints them, with b and quotes around them',
    'Give the bytes themselves, or text.decode(), not str(bytes)',
  ),
  objectText(
    /^\s*\{\s*(?:"[^"]*"|:\w+)\s*=>/,
    'is a hash as Ruby inspects it, not JSON',
    'Sign and send message.to_json, and in a receiver verify request.raw_post, not params.to_s',
  ),
  objectText(
    /^\s*map\[\w+:/,
    'is a map as Go prints it, not JSON',
    'Sign and send what json.Marshal gives, and in a receiver verify io.ReadAll(r.Body)',
  ),
  objectText(
    /^\s*\{\w+=[^"{]/,
    'is a map as Java prints it, not JSON',
    'Sign and send what an ObjectMapper writes, and in a receiver verify the bytes (@RequestBody byte[])',
  ),
  objectText(
    /^\s*<Buffer [0-9a-f ]+/,
    'is a Buffer as Node prints it',
    'Give the Buffer itself: its text in a log is not the body',
  ),
  objectText(
    /^System\.[\w.`[\], ]+\s*$/,
    'is the name of a class of .NET: ToString() of an object',
    'Sign and send JsonSerializer.Serialize(message), and in a receiver verify the bytes of Request.Body',
  ),
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
    says: starts(
      /^(?:[*><] |\{ \[\d+ bytes)|^HTTP\/\d/,
      'is what curl -v or -i printed: lines of the request and of the response',
    ),
    fix: 'Give the body alone: what follows --data in the command, without the lines that begin with *, > or <',
  },
  {
    code: 'wrapped-body',
    says: starts(/^--[^\r\n]{1,70}\r?\nContent-Disposition: form-data/i, 'is a multipart form'),
    fix: 'Send the JSON itself as the body, with Content-Type: application/json, not as a field of a form',
  },
  {
    code: 'wrapped-body',
    says: starts(/^\s*<(?:!doctype|html|\?xml)/i, 'is HTML or XML: a page of an error, or another request'),
    fix: 'Give the body of the POST that X-Signature came with',
  },
  {
    code: 'wrapped-body',
    says: (body) => {
      const what = envelopeOf(body)?.what;
      return what && `is ${what}`;
    },
    inside: bodyInside,
    fix: (body) => envelopeOf(body)?.fix ?? RAW_BYTES,
  },
  {
    code: 'encoded-body',
    says: (body) => (base64Json(body) === undefined ? undefined : 'is the base64 of JSON'),
    inside: base64Json,
    fix: 'Decode it first: Buffer.from(body, "base64"), base64.b64decode(body); a gateway says so with isBase64Encoded',
  },
  {
    code: 'encoded-body',
    says: (body) =>
      hexJson(body) === undefined ? undefined : 'is the hex of JSON, as a column of bytes shows it',
    inside: hexJson,
    fix: 'Decode it first: Buffer.from(body, "hex"), bytes.fromhex(body)',
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
    says: (body) =>
      twiceEncoded(body) === undefined ? undefined : 'is UTF-8 that was taken for Latin-1 and encoded again',
    inside: twiceEncoded,
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
    says: (body) => (jsonThenMore(body) === undefined ? undefined : 'is JSON with something after its end'),
    inside: jsonThenMore,
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
];

function badByteOf(bytes: Buffer): string {
  const index = firstBadByte(bytes);
  const byte = bytes.subarray(index, index + 1);
  return `byte ${index + 1} is 0x${byte.toString('hex')}, "${windowsText(byte)}" in Latin-1`;
}

function isCutJson({ head, text, fault }: KeptBody): boolean {
  return /^\s*[[{]/.test(head) && fault !== undefined && fault.at === text?.length;
}

/** The sizes at which columns and buffers cut a text. */
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
