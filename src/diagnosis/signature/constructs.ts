import { createHash, createHmac } from 'node:crypto';
import type { HmacAlgorithm, HmacFrame } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { Cost } from './change.ts';
import type { Secret } from './secret-changes.ts';

/** The inputs to a digest. `frame` is the text around the body that is signed with it. */
export interface SignedParts {
  readonly algorithm: HmacAlgorithm;
  readonly secret: Secret;
  readonly frame: HmacFrame;
  readonly body: Buffer;
}

/** A mistake in how a sender computes the digest, such as a plain hash of the body in place of an HMAC. */
export interface Construct {
  readonly code: ReasonCode;
  /** Describes the digest, to follow "it would match": `as SHA-1(body), a plain hash in place of an HMAC`. */
  readonly would: (hashName: string) => string;
  readonly cost: Cost;
  readonly digest: (parts: SignedParts) => Buffer;
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
  plain('body', ({ body }) => [body]),
  plain('secret + body', ({ secret, body }) => [secret, body]),
  plain('body + secret', ({ secret, body }) => [body, secret]),
  plain('secret + ":" + body', ({ secret, body }) => [secret, ':', body]),
  {
    code: 'plain-hash',
    would: () => 'with the body as the key and the secret as the message',
    cost: 2,
    digest: ({ algorithm, secret, body }) => createHmac(algorithm, body).update(secret).digest(),
  },
  {
    code: 'hashed-twice',
    would: (name) => `as ${name} of the hex digits of the right HMAC`,
    cost: 3,
    digest: (parts) => createHash(parts.algorithm).update(rightHmac(parts)).digest(),
  },
  {
    code: 'hashed-twice',
    would: () => 'as the HMAC of the right HMAC in hex',
    cost: 3,
    digest: (parts) => createHmac(parts.algorithm, parts.secret).update(rightHmac(parts)).digest(),
  },
];

function rightHmac(parts: SignedParts): string {
  return createHmac(parts.algorithm, parts.secret).update(framed(parts)).digest('hex');
}

type Piece = string | Uint8Array;

/**
 * Returns the mistake of hashing concatenated pieces without a key. `formula` describes the pieces to the user.
 * `pieces` returns them. The `body` passed to `pieces` includes the signed text before and after the body.
 */
function plain(formula: string, pieces: (parts: SignedParts) => readonly Piece[]): Construct {
  return {
    code: 'plain-hash',
    would: (name) => `as ${name}(${formula}), a plain hash in place of an HMAC`,
    cost: 2,
    digest: (parts) => {
      const hash = createHash(parts.algorithm);
      for (const piece of pieces({ ...parts, body: framed(parts) })) hash.update(piece);
      return hash.digest();
    },
  };
}

function framed({ frame: { before, after }, body }: SignedParts): Buffer {
  return Buffer.concat([Buffer.from(before), body, Buffer.from(after)]);
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
