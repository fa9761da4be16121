import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { ALGORITHMS, DIGEST_BYTES, hmacName, otherHashCode } from '../constructs.ts';
import { recipeOf } from '../diagnosis-for.ts';
import type { Reading } from './reading.ts';

/** Minimum length, in bits, of a text that is tried as a part of a digest made with the scheme's hash. */
const FEWEST_BITS = 32;

const WHOLE_BYTES: ReadonlySet<number> = new Set(Object.values(DIGEST_BYTES));

/** Minimum length, in bits, of a text that is tried as a part of a digest made with a hash other than the scheme's. */
const FEWEST_BITS_OF_OTHERS = 128;

const IN_ONE_LINE = 'Send the whole digest, in one line (base64 -w0)';

/** Reads a text as the start or the end of a digest whose rest was cut off. Yields a reading for each possible hash. */
export function* partReadings(
  part: string,
  encoding: 'hex' | 'base64',
  scheme: SignatureScheme,
): Generator<Reading> {
  const bits = part.length * (encoding === 'hex' ? 4 : 6);
  const isWhole = WHOLE_BYTES.has(Buffer.from(part, encoding).length);
  for (const algorithm of ALGORITHMS) {
    const isOwn = algorithm === scheme.hash;
    if (bits < (isOwn ? FEWEST_BITS : FEWEST_BITS_OF_OTHERS) || bits >= 8 * DIGEST_BYTES[algorithm]) continue;
    if (!isOwn && isWhole) continue;
    const whole = Buffer.alloc(DIGEST_BYTES[algorithm]).toString(encoding).length;
    const unit = encoding === 'hex' ? 'digits' : 'characters';
    const of = isOwn ? 'the right one' : `an ${hmacName(algorithm)} in ${encoding}`;
    yield {
      algorithm,
      cost: isOwn ? 1 : 2,
      problem: {
        code: 'truncated-signature',
        what: `${part.length} of the ${whole} ${unit} of ${of}`,
        fix: isOwn ? undefined : `${IN_ONE_LINE}. ${recipeOf(scheme)}`,
      },
      matches: (digest) => {
        const text = Buffer.from(digest, 'latin1').toString(encoding);
        return text.startsWith(part) || text.endsWith(part);
      },
    };
  }
}

/** Faulty ways to write a digest in hex, which drop leading zeros of the whole digest or of its bytes. */
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
];

/**
 * Reads a text as a digest that was written in hex without all of its zeros. Such a text can be ambiguous, so `matches`
 * writes the computed digest in the same way and compares the texts.
 */
export function* lossyReadings(token: string, scheme: SignatureScheme): Generator<Reading> {
  if (!/^[0-9a-f-]+$/.test(token)) return;
  for (const algorithm of ALGORITHMS) {
    const whole = 2 * DIGEST_BYTES[algorithm];
    // Allows for lost zeros (about one byte in sixteen begins with the digit 0) and for minus signs.
    const isOwn = algorithm === scheme.hash;
    const [least, most] = isOwn ? [whole / 2, 2 * whole] : [0.7 * whole, 1.3 * whole];
    if (token.length === whole || token.length < least || token.length > most) continue;
    for (const [way, write] of LOSSY_NOTATIONS) {
      const code = isOwn ? 'other-encoding' : otherHashCode(algorithm);
      yield {
        algorithm,
        cost: isOwn ? 1 : 2,
        problem: {
          code,
          what: `${hmacName(algorithm)} ${way}`,
          fix: isOwn ? TWO_DIGITS : `${TWO_DIGITS}. ${recipeOf(scheme)}`,
        },
        matches: (digest) => write(Buffer.from(digest, 'latin1')) === token,
      };
    }
  }
}

const TWO_DIGITS = 'Write two hex digits for each byte (%02x, padStart(2, "0"), byte & 0xff)';
