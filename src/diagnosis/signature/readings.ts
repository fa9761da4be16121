import { isUtf8 } from 'node:buffer';
import { printable } from '../../redact.ts';
import type { HmacAlgorithm } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { HASH_NAMES, hmacName, otherHashCode } from './constructs.ts';

/** A notation of a signature other than that of its scheme. */
export interface NotationProblem {
  readonly code: ReasonCode;
  /** Names the notation: `HMAC-SHA1 in base64`. */
  readonly what: string;
  /** Describes the text around the digest, to follow "it": `has other characters around its digits`. */
  readonly around?: string | undefined;
  readonly fix?: string | undefined;
}

/** One way to read a received text as a digest. */
export interface Reading {
  readonly algorithm: HmacAlgorithm;
  /** How unlikely the reading is, compared with the other readings of the text. */
  readonly cost: number;
  /** The difference from the notation of the scheme. Undefined if the text is in that notation. */
  readonly problem?: NotationProblem;
  /** Whether the text is this digest, which has one latin1 character per byte. */
  readonly matches: (digest: string) => boolean;
}

export const DIGEST_BYTES: Readonly<Record<HmacAlgorithm, number>> = {
  sha1: 20,
  sha256: 32,
  sha512: 64,
  sha384: 48,
  md5: 16,
};
const ALGORITHMS = Object.keys(DIGEST_BYTES) as readonly HmacAlgorithm[]; // the keys of the record above

/** Minimum bits of a part of a digest that identify the digest. */
const FEWEST_BITS = 32;

/** Returns all readings of a text as a signature of a scheme, the likeliest first. Empty if the text cannot be a digest. */
export function readingsOf(text: string, scheme: SignatureScheme): readonly Reading[] {
  const bare = bareText(text, scheme);
  const own = tokenReadings(bare, scheme);
  const found =
    own.length > 0
      ? own
      : undecorated(bare).flatMap((token) =>
          tokenReadings(token, scheme).map((reading) => decorated(reading, text.trim(), token)),
        );
  return [...found, ...lossyReadings(bare, scheme)];
}

function tokenReadings(token: string, scheme: SignatureScheme): readonly Reading[] {
  return [
    ...hexReadings(token, scheme),
    ...base64Readings(token, scheme),
    ...listReadings(token, scheme),
    ...nestedReadings(token, scheme),
  ];
}

/** Reads a text as hex or base64 of a text that has the digest in hex, such as the line that openssl prints. */
function* nestedReadings(token: string, scheme: SignatureScheme): Generator<Reading> {
  for (const encoding of ['hex', 'base64'] as const) {
    const text = Buffer.from(token, encoding).toString('latin1');
    const [digits = ''] = /^[\t\n\r -~]+$/.test(text)
      ? (/(?:[0-9a-f]{2}){16,64}(?![0-9a-f])/i.exec(text) ?? [])
      : [];
    const form = text === digits ? '' : ' with other text around it';
    yield* wholeReadings(Buffer.from(digits, 'hex'), ` in hex${form}, and again in ${encoding}`, scheme);
  }
}

/** Removes white space around the text, and the header name or prefix that a lenient scheme allows before the digits. */
function bareText(text: string, { isLenient }: SignatureScheme): string {
  const value = text.trim();
  if (isLenient !== true) return value;
  return value
    .replace(/^x-signature\s*:\s*/i, '')
    .replace(/^(?:sha-?(?:1|256|384|512)|md5)=/i, '')
    .trim();
}

/** Maximum number of digests in one text, as of several secrets. */
const MOST_TOKENS = 4;

/** The longest parts of a text that can be digests: without names, prefixes, quotes, percent-encoding and separators. */
function undecorated(text: string): readonly string[] {
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  if (/^\W*(?:[0-9a-f]{2}[:\s-]){15,}[0-9a-f]{2}\W*$/i.test(plain)) {
    return [plain.replaceAll(/[^0-9a-f]/gi, '')];
  }
  const tokens = plain.replace(/^\W*0x/i, '').match(/[0-9A-Za-z+/_-]{8,}={0,2}/g) ?? [];
  const [longest = '', ...others] = tokens.toSorted((one, other) => other.length - one.length);
  return [longest, ...others.filter(({ length }) => length === longest.length)].slice(0, MOST_TOKENS);
}

/** Adds a description of the text around the digest to a reading. */
function decorated(reading: Reading, text: string, token: string): Reading {
  const at = text.indexOf(token);
  const quoted = [text.slice(0, Math.max(0, at)), at < 0 ? '' : text.slice(at + token.length)].map((part) =>
    printable(part.trim(), MOST_QUOTED),
  );
  const [before = '', after = ''] = quoted.map((part) => (part === '' ? '' : `\`${part}\``));
  const places = [before && `${before} before its digits`, after && `${after} after them`].filter(Boolean);
  const around = `has ${places.join(' and ') || 'other characters between its digits'}`;
  return {
    ...reading,
    problem: { code: 'other-encoding', what: whatOf(reading), around, fix: DIGITS_ALONE },
  };
}

const MOST_QUOTED = 40;
const DIGITS_ALONE = 'Send and give the digits of the digest alone, without other characters';

/** Names a reading: `HMAC-SHA1 in base64`. */
export function whatOf({ problem, algorithm }: Reading): string {
  return problem?.what ?? hmacName(algorithm);
}

function* hexReadings(token: string, scheme: SignatureScheme): Generator<Reading> {
  if (!/^[0-9a-f]+$/i.test(token)) return;
  const digits = token.toLowerCase();
  const isUpperCase = digits !== token && scheme.isLenient !== true && scheme.encoding === 'hex';
  const form = isUpperCase ? ' in upper-case hex' : scheme.encoding === 'hex' ? '' : ' in hex';
  if (digits.length % 2 === 0) yield* wholeReadings(Buffer.from(digits, 'hex'), form, scheme);
  yield* partReadings(digits, 'hex', scheme);
}

function* base64Readings(token: string, scheme: SignatureScheme): Generator<Reading> {
  if (!/^[0-9a-z+/_-]+={0,2}$/i.test(token) || /^[0-9a-f]{40,}$/i.test(token)) return;
  const digest = Buffer.from(token, 'base64');
  const isUnpadded = !token.endsWith('=') && digest.length % 3 > 0;
  const name = /[-_]/.test(token) ? 'base64url' : isUnpadded ? 'base64 without its =' : 'base64';
  const form = scheme.encoding === 'base64' && name === 'base64' ? '' : ` in ${name}`;
  // An unpadded base64 text of 16 bytes is not taken for MD5, because any word of 22 letters has that form.
  if (digest.length !== 16 || token.endsWith('==')) yield* wholeReadings(digest, form, scheme);
  if (scheme.encoding === 'base64' || token.length >= MIN_BASE64_PART) {
    yield* partReadings(token, 'base64', scheme);
  }
}

const MIN_BASE64_PART = 20;

/** Ways in which programs write a digest in hex without its leading zeros, or base64 without its capitals. */
const LOSSY_NOTATIONS: readonly (readonly [what: string, write: (digest: Buffer) => string])[] = [
  ['without its leading zeros, as a big integer', (digest) => digest.toString('hex').replace(/^0+/, '')],
  [
    'with each byte written as an integer, not as two digits',
    (digest) => [...digest].map((byte) => byte.toString(16)).join(''),
  ],
  [
    'with each byte written as a signed integer, not as two digits',
    (digest) => [...new Int8Array(digest)].map((byte) => byte.toString(16)).join(''),
  ],
  ['in base64 without its capital letters', (digest) => digest.toString('base64').toLowerCase()],
];

/** Reads a text as a right digest that was written with a loss, so that the bytes cannot be recovered from it. */
function* lossyReadings(token: string, { hash }: SignatureScheme): Generator<Reading> {
  const whole = 2 * DIGEST_BYTES[hash];
  const isPossible = token.length !== whole && token.length >= whole / 2 && token.length <= 2 * whole;
  if (!isPossible || !/^[0-9a-z+/=-]+$/.test(token)) return;
  for (const [way, write] of LOSSY_NOTATIONS) {
    yield {
      algorithm: hash,
      cost: 1,
      problem: { code: 'other-encoding', what: `${hmacName(hash)} ${way}`, fix: TWO_DIGITS },
      matches: (digest) => write(Buffer.from(digest, 'latin1')) === token,
    };
  }
}

const TWO_DIGITS =
  'Write two hex digits for each byte (%02x, padStart(2, "0"), byte & 0xff), and do not change the case of base64';

/** Reads bytes as Java, Go and PowerShell print them: `[-12, 34, …]`, `[244 34 …]`. */
function* listReadings(token: string, scheme: SignatureScheme): Generator<Reading> {
  if (!/^\[?(?:-?\d{1,3}[,\s]+){15,63}-?\d{1,3}\]?$/.test(token)) return;
  yield* wholeReadings(
    Buffer.from((token.match(/-?\d+/g) ?? []).map(Number)),
    ' as a list of its bytes',
    scheme,
  );
}

/** Reads a text as a whole digest of the hash that has this many bytes, and as the start of longer digests. */
function* wholeReadings(read: Buffer, notation: string, scheme: SignatureScheme): Generator<Reading> {
  const inUtf8 = digestInUtf8(read);
  const digest = inUtf8 ?? read;
  const form = inUtf8 === undefined ? notation : ` as text in UTF-8${notation}`;
  const bytes = digest.length;
  const algorithm = ALGORITHMS.find((each) => DIGEST_BYTES[each] === bytes);
  if (algorithm === undefined) return;
  const whole = digest.toString('latin1');
  const isOwn = algorithm === scheme.hash;
  const isBase64 = form.includes('base64') && scheme.encoding === 'hex';
  const code = isOwn ? (isBase64 ? 'base64' : 'other-encoding') : otherHashCode(algorithm);
  yield {
    algorithm,
    // Costs more for MD5, because any digest that is cut off to 16 bytes has this length.
    cost: algorithm === 'md5' ? 1 : 0,
    ...((!isOwn || form !== '') && { problem: { code, what: hmacName(algorithm) + form } }),
    matches: (made) => made === whole,
  };
  for (const [longer, cost] of CUT_OFF_HASHES.filter(([each]) => DIGEST_BYTES[each] > bytes)) {
    const what = `the first digits of an HMAC with ${HASH_NAMES[longer]}${form}`;
    const matches = (made: string): boolean => made.startsWith(whole);
    yield { algorithm: longer, cost, problem: { code: otherHashCode(longer), what }, matches };
  }
}

/** The digest whose bytes were taken for characters and written in UTF-8, as Node does with digest('binary'). */
function digestInUtf8(read: Buffer): Buffer | undefined {
  const text = isUtf8(read) ? read.toString() : '';
  return /[^\0-\x7f]/.test(text) && /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1') : undefined;
}

/** Hashes whose digests senders cut off to the length of another hash, each with the cost of that reading. */
const CUT_OFF_HASHES = [
  ['sha256', 2],
  ['sha512', 3],
] as const;

/** Reads a text as the start or the end of a right signature. */
function* partReadings(
  part: string,
  encoding: 'hex' | 'base64',
  { hash }: SignatureScheme,
): Generator<Reading> {
  const bits = part.length * (encoding === 'hex' ? 4 : 6);
  if (bits < FEWEST_BITS || bits >= 8 * DIGEST_BYTES[hash]) return;
  const whole = Buffer.alloc(DIGEST_BYTES[hash]).toString(encoding).length;
  const unit = encoding === 'hex' ? 'digits' : 'characters';
  yield {
    algorithm: hash,
    cost: 1,
    problem: { code: 'truncated-signature', what: `${part.length} of the ${whole} ${unit} of the right one` },
    matches: (digest) => {
      const text = Buffer.from(digest, 'latin1').toString(encoding);
      return text.startsWith(part) || text.endsWith(part);
    },
  };
}
