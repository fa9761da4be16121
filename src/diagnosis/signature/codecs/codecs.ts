import { createHash } from 'node:crypto';
import { FIXES } from '../../../signature/reasons.ts';
import { replaced } from '../change.ts';
import { UTF_16 } from './character-sets.ts';
import { withMeaning, type Codec, type Written } from './codec.ts';
import {
  entitiesDecoded,
  entitiesEncoded,
  hexEscaped,
  hexUnescaped,
  listedBytes,
  parsedString,
  urlDecoded,
  urlEncoded,
  pythonBytesText,
  unpackedBytes,
} from './codec-texts.ts';

const STRINGIFY_ONCE =
  'Stringify the message once: a client that gets a text to send as JSON (axios, requests json=) stringifies it again';

/** Ways to write bytes as text or as other bytes, hashes included. */
export const BYTE_CODECS: readonly Codec[] = [
  {
    name: 'base64',
    encode: ({ bytes }) => bytes.toString('base64'),
    decode: ({ text }) =>
      /^[\w+/-][\w+/\s-]*={0,2}\r?\n?$/.test(text) ? Buffer.from(text, 'base64') : undefined,
    cost: 1,
    bodyCost: 2,
    received: {
      code: 'encoded-body',
      fix: 'Decode it first: Buffer.from(body, "base64"), base64.b64decode(body); a gateway says so with isBase64Encoded',
    },
  },
  {
    // PostgreSQL writes \x before the hex digits of bytes, and other programs write 0x.
    name: 'hex',
    encode: ({ bytes }) => bytes.toString('hex'),
    decode: ({ text }) => {
      const digits = /^(?:\\x|0x)?((?:[0-9a-f]{2})+)\s*$/i.exec(text)?.[1];
      return digits && Buffer.from(digits, 'hex');
    },
    received: {
      code: 'encoded-body',
      fix: 'Decode it first: Buffer.from(body, "hex"), bytes.fromhex(body)',
    },
  },
  ...[',', ', ', ' '].map((separator): Codec => {
    const isBare = separator === ',';
    const list = ({ bytes }: Written): string => bytes.join(separator);
    return {
      name: `a list of decimal bytes${isBare ? '' : `, as [1${separator}2]`}`,
      encode: isBare ? list : (plain) => `[${list(plain)}]`,
      ...(isBare && { decode: listedBytes }),
      cost: 3,
      received: {
        code: 'encoded-body',
        fix: 'Give the bytes themselves: Buffer.from(body), or new TextDecoder().decode(body) for text',
      },
    };
  }),
  {
    name: 'the text that Python prints for bytes',
    encode: ({ bytes }) => pythonBytesText(bytes),
    cost: 1,
    bodyCost: 3,
  },
  { name: 'the JSON of a Node Buffer', encode: ({ bytes }) => JSON.stringify(bytes), bodyCost: 2, cost: 3 },
  {
    name: 'the JSON of bytes in Go, Java and .NET',
    encode: ({ bytes }) => `"${bytes.toString('base64')}"`,
    cost: 3,
  },
  ...UTF_16,
  ...hashed('sha256', 'SHA-256'),
  ...hashed('sha1', 'SHA-1'),
  ...hashed('md5', 'MD5'),
];

/** Makes codecs for the hash of a secret or body. A hash is not an encoding, but one side may use it by mistake. */
function hashed(algorithm: string, name: string): readonly Codec[] {
  return [
    {
      name: `the hex of its ${name}`,
      encode: ({ bytes }) => createHash(algorithm).update(bytes).digest('hex'),
      // Costs less, because services that sign the method and path often sign this hash in place of the body.
      bodyCost: algorithm === 'sha256' ? 1 : 3,
    },
    {
      name: `its ${name}`,
      encode: ({ bytes }) => createHash(algorithm).update(bytes).digest(),
      cost: 2,
      bodyCost: 3,
    },
  ];
}

/** Compression. It is tried only for bodies, because secrets are too short to be compressed. */
export const GZIP: Codec = {
  name: 'gzip or zlib',
  encode: ({ bytes }) => process.getBuiltinModule('node:zlib').gzipSync(bytes),
  decode: unpackedBytes,
  cost: 3,
  signed: { code: 'other-encoding', fix: FIXES.gzip },
  received: { code: 'gzip', fix: FIXES.gzip },
};

/** Percent-encoding as PHP (`rawurlencode`, `urlencode`), JavaScript and Python (`quote`) write it. */
export const PERCENT_ENCODINGS = withMeaning({ code: 'url-encoded', fix: FIXES['url-encoded'] }, [
  { name: 'a URL component', encode: urlEncoded, decode: ({ text }) => urlDecoded(text, '+') },
  {
    name: "a URL component with !, ', (, ) and * as they are, as JavaScript writes it",
    encode: ({ bytes }) => encodeURIComponent(bytes.toString()),
  },
  { name: 'a URL path', encode: (plain) => urlEncoded(plain).replaceAll('%2F', '/') },
  {
    name: 'a form value',
    encode: (plain) => urlEncoded(plain).replaceAll('%20', '+'),
    decode: ({ text }) => urlDecoded(text, ' '),
  },
  {
    name: 'a form value, as JavaScript writes it',
    encode: ({ text }) => new URLSearchParams({ '': text }).toString().slice(1),
  },
]);

/** Ways to escape special characters, as in JSON, HTML, CSV, SQL, logs and shells. */
export const ESCAPES: readonly Codec[] = [
  {
    name: 'a JSON string',
    encode: ({ text }) => JSON.stringify(text),
    decode: ({ text }) => (text.startsWith('"') ? parsedString(text) : undefined),
    signed: { code: 'other-encoding', fix: STRINGIFY_ONCE },
  },
  {
    name: 'a JSON string without its quotes',
    encode: ({ text }) => JSON.stringify(text).slice(1, -1),
    decode: ({ text }) => (text.includes('\\') ? parsedString(`"${text}"`) : undefined),
  },
  {
    name: 'JSON with \\u0026, \\u003c and \\u003e for &, < and >, as Go and Terraform write it',
    encode: ({ text }) => replaced(text, /[&<>]/g, (each) => `\\u00${each.charCodeAt(0).toString(16)}`),
  },
  {
    name: 'text with \\n and \\t for white space, which echo of many shells decodes',
    encode: ({ text }) => replaced(text, /\n/g, '\\n')?.replaceAll('\t', '\\t'),
    decode: ({ text }) => replaced(text, /\\n/g, '\n')?.replaceAll('\\t', '\t'),
  },
  {
    name: 'text with \\/ for slashes',
    encode: ({ text }) => replaced(text, /\//g, '\\/'),
    decode: ({ text }) => replaced(text, /\\\//g, '/'),
  },
  {
    name: 'a field of CSV',
    encode: ({ text }) => `"${text.replaceAll('"', '""')}"`,
    decode: ({ text }) => /^"(.*)"\s*$/s.exec(text)?.[1]?.replaceAll('""', '"'),
    cost: 3,
  },
  {
    name: 'text with doubled backslashes, as mysql --batch writes it',
    encode: ({ text }) => replaced(text, /\\/g, '\\\\'),
    decode: ({ text }) => replaced(text, /\\\\/g, '\\'),
  },
  {
    name: 'text with backslashes before its quotes and backslashes, as addslashes writes it',
    encode: ({ text }) => text.replaceAll(/["'\\]/g, String.raw`\$&`),
    decode: ({ text }) => text.replaceAll(/\\(.)/gs, '$1'),
  },
  {
    name: 'text with \\x escapes, which nginx writes into logs',
    encode: ({ bytes }) => hexEscaped(bytes),
    decode: hexUnescaped,
  },
  ...['&#39;', '&#039;', '&#x27;', undefined].map((apostrophe, index): Codec => {
    const what = apostrophe === undefined ? '<, > and &' : `quotes (${apostrophe}), <, > and &`;
    return {
      name: `HTML, with entities for ${what}`,
      encode: ({ text }) => entitiesEncoded(text, apostrophe),
      ...(index === 0
        ? { decode: ({ text }) => (text.includes('&') ? entitiesDecoded(text) : undefined) }
        : { cost: 3 }),
    };
  }),
];
