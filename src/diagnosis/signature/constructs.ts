import { createHash, createHmac } from 'node:crypto';
import { NO_FRAME, type HmacAlgorithm, type HmacFrame } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { Cost } from './change.ts';
import type { Bytes } from './codecs/codec.ts';
import type { Secret } from './secret-changes.ts';

/** The inputs to a digest. `frame` is the text around the body that is signed with it. */
export interface SignedParts {
  readonly algorithm: HmacAlgorithm;
  readonly secret: Secret;
  readonly frame: HmacFrame;
  readonly body: Bytes;
}

/** A mistake in how a sender computes the digest, such as a plain hash of the body in place of an HMAC. */
export interface Construct {
  readonly code: ReasonCode;
  /** Describes the digest, to follow "it would match": `as SHA-1(body), a plain hash in place of an HMAC`. */
  readonly would: (hashName: string) => string;
  readonly cost: Cost;
  /** Returns the digest with one Latin-1 character per byte. */
  readonly digest: (parts: SignedParts) => string;
}

export const DIGEST_BYTES: Readonly<Record<HmacAlgorithm, number>> = {
  sha1: 20,
  sha256: 32,
  sha512: 64,
  sha384: 48,
  md5: 16,
};
export const ALGORITHMS = Object.keys(DIGEST_BYTES) as readonly HmacAlgorithm[]; // the keys of the record above

/** Mistakes in computing a digest. The search tries those of equal cost in this order. */
export const CONSTRUCTS: readonly Construct[] = [
  plain('body', (signed) => signed),
  plain('secret + body', (signed, secret) => [secret, ...signed]),
  plain('body + secret', (signed, secret) => [...signed, secret]),
  plain('secret + ":" + body', (signed, secret) => [secret, ':', ...signed]),
  {
    code: 'plain-hash',
    would: () => 'with the body as the key and the secret as the message',
    cost: 2,
    digest: ({ algorithm, secret, body }) => createHmac(algorithm, body).update(secret).digest('binary'),
  },
  {
    code: 'hashed-twice',
    would: (name) => `as ${name} of the hex digits of the right HMAC`,
    cost: 3,
    digest: (parts) =>
      createHash(parts.algorithm)
        .update(hexOf(hmacOf(parts)))
        .digest('binary'),
  },
  {
    code: 'hashed-twice',
    would: () => 'as the HMAC of the right HMAC in hex',
    cost: 3,
    digest: (parts) => hmacOf({ ...parts, body: hexOf(hmacOf(parts)), frame: NO_FRAME }),
  },
];

/** Computes the right HMAC of the parts. */
export function hmacOf({ algorithm, secret, frame: { before, after }, body }: SignedParts): string {
  return createHmac(algorithm, secret).update(before).update(body).update(after).digest('binary');
}

function hexOf(digest: string): string {
  return Buffer.from(digest, 'binary').toString('hex');
}

/**
 * Makes the construct of a hash of concatenated pieces, without a key. `formula` describes the pieces to the user.
 * `pieces` makes them from the parts of the signed text (before the body, the body, after the body) and the secret.
 */
function plain(
  formula: string,
  pieces: (signed: readonly Bytes[], secret: Secret) => readonly Bytes[],
): Construct {
  return {
    code: 'plain-hash',
    would: (name) => `as ${name}(${formula}), a plain hash in place of an HMAC`,
    cost: 2,
    digest: ({ algorithm, secret, frame: { before, after }, body }) => {
      const hash = createHash(algorithm);
      for (const piece of pieces([before, body, after], secret)) hash.update(piece);
      return hash.digest('binary');
    },
  };
}

/** Returns the usual name of a hash: `SHA-256` or `MD5`. */
export function hashName(algorithm: HmacAlgorithm): string {
  return algorithm.toUpperCase().replace('SHA', 'SHA-');
}

/** Returns the usual name of an HMAC, without the hyphen of its hash: `HMAC-SHA256`, not `HMAC-SHA-256`. */
export function hmacName(algorithm: HmacAlgorithm): string {
  return `HMAC-${algorithm.toUpperCase()}`;
}

/** Returns the reason code for a signature that uses this hash instead of the one that its scheme requires. */
export function otherHashCode(algorithm: HmacAlgorithm): ReasonCode {
  return algorithm === 'sha256' ? 'sha256' : 'other-hash';
}
