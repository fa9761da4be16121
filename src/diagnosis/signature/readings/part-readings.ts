import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { ALGORITHMS, DIGEST_BYTES, hmacName, otherHashCode } from '../constructs.ts';
import type { Reading } from './reading.ts';

/** Minimum length, in bits, of a text that is tried as a part of a digest: with the scheme's hash, and with others. */
const FEWEST_BITS = { own: 32, other: 128 };

/**
 * Reads a text as the start or the end of a digest whose rest was cut off, or whose leading zeros were lost. Yields a
 * reading for each possible hash.
 */
export function* partReadings(
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
