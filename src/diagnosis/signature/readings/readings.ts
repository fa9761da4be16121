import { printable } from '../../../redact.ts';
import type { HmacAlgorithm } from '../../../signature/hmac.ts';
import type { ReasonCode } from '../../../signature/reasons.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { recipeOf } from '../diagnosis-for.ts';
import { ALGORITHMS, DIGEST_BYTES, hmacName, otherHashCode } from '../constructs.ts';

/** A difference between a signature and the form that its scheme requires: another hash, encoding, length or prefix. */
export interface NotationProblem {
  readonly code: ReasonCode;
  /** Describes how the digest is written: `HMAC-SHA1 in base64`. */
  readonly what: string;
  /** Describes what is around or between the digits, to follow "it": ``has other text around its digits: `sha1=…` ``. */
  readonly around?: string | undefined;
  readonly fix?: string | undefined;
}

/** One way to read a received text as a digest, such as "an HMAC-SHA1 in base64". */
export interface Reading {
  readonly algorithm: HmacAlgorithm;
  /** How unlikely this way to read the text is: 0 for the likeliest. The search tries cheap ones first. */
  readonly cost: number;
  /** Undefined if the digest is written as the scheme requires. */
  readonly problem?: NotationProblem;
  /** Returns whether the text can stand for this digest. `digest` has one Latin-1 character per byte. */
  readonly matches: (digest: string) => boolean;
}

/**
 * Returns the ways to read a text as a digest. Reads the whole text and, unless that is a likely digest, also parts of
 * the text. Empty if the text cannot be a digest.
 */
export function readingsOf(text: string, scheme: SignatureScheme): readonly Reading[] {
  const bare = bareText(text, scheme);
  const own = tokenReadings(bare, scheme);
  const isWhole = own.some(({ cost }) => cost === 0);
  const inside = isWhole
    ? []
    : undecorated(bare)
        .filter((token) => token !== bare)
        .flatMap((token) =>
          tokenReadings(token, scheme).map((reading) => decorated(reading, text.trim(), { token, scheme })),
        );
  return [...own, ...inside];
}

function tokenReadings(token: string, scheme: SignatureScheme): readonly Reading[] {
  return [...hexReadings(token, scheme), ...base64Readings(token, scheme), ...nestedReadings(token, scheme)];
}

/** Decodes hex or base64 and finds a hex digest in the result, in case the printed output of openssl was encoded. */
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

/** Removes white space around a text. For a lenient scheme, also removes `X-Signature:` and a prefix like `sha1=`. */
function bareText(text: string, { isLenient }: SignatureScheme): string {
  const value = text.trim();
  if (isLenient !== true) return value;
  return value
    .replace(/^x-signature\s*:\s*/i, '')
    .replace(/^(?:sha-?(?:1|256|384|512)|md5)=/i, '')
    .trim();
}

/** Maximum number of digests to look for in a text. A header has several if its sender signs with several secrets. */
const MOST_TOKENS = 4;

/**
 * Returns the parts of a text that may be digests, without percent-encoding. Joins hex bytes that separators divide
 * (`a1:b2`), and restores plus signs. In other texts, returns the longest runs of base64 or hex characters.
 */
function undecorated(text: string): readonly string[] {
  const plain = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  if (/^\W*(?:[0-9a-f]{2}[:\s-]){15,}[0-9a-f]{2}\W*$/i.test(plain)) {
    return [plain.replaceAll(/[^0-9a-f]/gi, '')];
  }
  // Parsers of URL queries and HTML forms decode a plus sign to a space.
  if (/^[\w+/]+(?: [\w+/ ]+)={0,2}$/.test(plain)) return [plain.replaceAll(' ', '+')];
  const tokens = plain.replace(/^\W*0x/i, '').match(/[0-9A-Za-z+/_-]{8,}={0,2}/g) ?? [];
  const [longest = '', ...others] = tokens.toSorted((one, other) => other.length - one.length);
  return [longest, ...others.filter(({ length }) => length === longest.length)].slice(0, MOST_TOKENS);
}

/** Adds a problem to a reading of `token`: the text has other text around the digits, or characters between them. */
function decorated(
  reading: Reading,
  text: string,
  { token, scheme }: { readonly token: string; readonly scheme: SignatureScheme },
): Reading {
  const form = text.replace(token, () => '…');
  return {
    ...reading,
    problem: {
      code: 'other-encoding',
      what: whatOf(reading),
      around:
        form === text
          ? 'has other characters between its digits'
          : `has other text around its digits: \`${printable(form, MOST_QUOTED)}\``,
      fix: scheme.isLenient === true && reading.problem === undefined ? DIGITS_ALONE : recipeOf(scheme),
    },
  };
}

const MOST_QUOTED = 40;
const DIGITS_ALONE =
  'Send and give the digits of the digest alone, without other characters or a second signature';

/** Describes how the digest is written: `HMAC-SHA1 in base64`. */
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
  yield* zerolessReadings(digits);
}

/** Reads hex in which each byte below 16 lost its leading zero, as Java's Integer.toHexString writes bytes. */
function* zerolessReadings(digits: string): Generator<Reading> {
  for (const algorithm of ALGORITHMS) {
    // Accepts many lost zeros: of 16 bytes, usually one is below 16.
    const lost = 2 * DIGEST_BYTES[algorithm] - digits.length;
    if (lost <= 0 || lost > DIGEST_BYTES[algorithm] / 4) continue;
    const what = `${hmacName(algorithm)} in hex without the leading zeros of its bytes`;
    yield {
      algorithm,
      cost: 1,
      problem: { code: 'other-encoding', what, fix: TWO_DIGITS },
      matches: (made) => Array.from(made, (byte) => byte.charCodeAt(0).toString(16)).join('') === digits,
    };
  }
}

const TWO_DIGITS =
  'Write each byte as two digits: in Java, HexFormat.of().formatHex(digest) or String.format("%02x", each)';

function* base64Readings(token: string, scheme: SignatureScheme): Generator<Reading> {
  if (!/^[0-9a-z+/_-]+={0,2}$/i.test(token) || /^[0-9a-f]{40,}$/i.test(token)) return;
  const digest = Buffer.from(token, 'base64');
  const isUnpadded = !token.endsWith('=') && digest.length % 3 > 0;
  const name = /[-_]/.test(token) ? 'base64url' : isUnpadded ? 'base64 without its =' : 'base64';
  const form = scheme.encoding === 'base64' && name === 'base64' ? '' : ` in ${name}`;
  // Does not read unpadded base64 of 16 bytes as an MD5 digest, because any word of 22 letters looks like it.
  if (digest.length !== 16 || token.endsWith('==')) yield* wholeReadings(digest, form, scheme);
  if (scheme.encoding === 'base64' || token.length >= MIN_BASE64_PART) {
    yield* partReadings(token, 'base64', scheme);
  }
}

/** Minimum characters of base64 to read as a part of a digest, if the scheme writes its digests in hex. */
const MIN_BASE64_PART = 20;

/**
 * Reads bytes as a whole digest of the hash with this digest length. If no hash has this length, reads the bytes as a
 * shorter digest with other bytes around it.
 */
function* wholeReadings(digest: Buffer, form: string, scheme: SignatureScheme): Generator<Reading> {
  const bytes = digest.length;
  const algorithm = ALGORITHMS.find((each) => DIGEST_BYTES[each] === bytes);
  const whole = digest.toString('latin1');
  if (algorithm === undefined) {
    for (const shorter of ALGORITHMS.filter((each) => DIGEST_BYTES[each] < bytes)) {
      const what = `${hmacName(shorter)}${form} with ${bytes - DIGEST_BYTES[shorter]} other bytes around it`;
      const problem = { code: 'other-encoding', what, fix: SUM_OF_NIL } as const;
      yield {
        algorithm: shorter,
        cost: shorter === scheme.hash ? 1 : 2,
        problem,
        matches: (made) => whole.includes(made),
      };
    }
    return;
  }
  const isOwn = algorithm === scheme.hash;
  const isBase64 = form.includes('base64') && scheme.encoding === 'hex';
  const code = isOwn ? (isBase64 ? 'base64' : 'other-encoding') : otherHashCode(algorithm);
  yield {
    algorithm,
    // MD5 costs more, because any digest that is cut off to 16 bytes has the length of an MD5 digest.
    cost: algorithm === 'md5' ? 1 : 0,
    ...((!isOwn || form !== '') && { problem: { code, what: hmacName(algorithm) + form } }),
    matches: (made) => made === whole,
  };
}

/** The fix for a digest with other bytes around it, which Go's mac.Sum(body) returns: it appends the digest to the body. */
const SUM_OF_NIL =
  'Hash the body, then write the digest alone: in Go, mac.Write(body) and mac.Sum(nil), because mac.Sum(body) only puts the body before the digest';

/** Minimum length, in bits, of a text to read as a part of a digest: of the scheme's hash (`own`), or of another hash. */
const FEWEST_BITS = { own: 32, other: 128 };

/**
 * Reads a text as the start or the end of a digest whose rest was cut off, or whose leading zeros were lost. Yields a
 * reading for each possible hash.
 */
function* partReadings(
  part: string,
  encoding: 'hex' | 'base64',
  scheme: SignatureScheme,
): Generator<Reading> {
  const bits = part.length * (encoding === 'hex' ? 4 : 6);
  for (const algorithm of ALGORITHMS) {
    const isOwn = algorithm === scheme.hash;
    if (bits < FEWEST_BITS[isOwn ? 'own' : 'other'] || bits >= 8 * DIGEST_BYTES[algorithm]) continue;
    const whole = Buffer.alloc(DIGEST_BYTES[algorithm]).toString(encoding).length;
    const unit = encoding === 'hex' ? 'digits' : 'characters';
    const of = isOwn ? 'the right one' : `an ${hmacName(algorithm)} in ${encoding}`;
    yield {
      algorithm,
      cost: isOwn ? 1 : algorithm === 'sha256' ? 2 : 3,
      problem: {
        code: isOwn ? 'truncated-signature' : otherHashCode(algorithm),
        what: `${part.length} of the ${whole} ${unit} of ${of}`,
      },
      matches: (digest) => {
        const text = Buffer.from(digest, 'latin1').toString(encoding);
        return text.startsWith(part) || text.endsWith(part);
      },
    };
  }
}
