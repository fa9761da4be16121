import { createHash, type Hash } from 'node:crypto';
import { keyedHmac, type HmacAlgorithm, type HmacFrame } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { Mistake } from './mistake.ts';

/** Computes a digest of a body piece by piece. `digest` can be called again, to try several endings of the body. */
export interface StreamingDigest {
  update(bytes: Uint8Array | string): StreamingDigest;
  copy(): StreamingDigest;
  digest(tail?: Uint8Array | string): Buffer;
}

/** A wrong way to make a digest of a body and a secret. */
export interface HashVariant extends Mistake {
  readonly digests: readonly StreamingDigest[];
}

interface HashContext {
  readonly algorithm: HmacAlgorithm;
  readonly frame: HmacFrame;
  readonly secrets: readonly string[];
  readonly keys: readonly (string | Uint8Array)[];
}

/** Plain hashes in place of the HMAC: of the body alone, and with the secret before or after the body. */
export function hashVariants({ algorithm, secrets, frame }: HashContext): HashVariant[] {
  const name = HASH_NAMES[algorithm];
  return PLAIN_HASHES.map(([formula, before, after]) => ({
    code: 'plain-hash',
    would: `as ${name}(${formula}), a plain hash in place of an HMAC`,
    digests: secrets.map(
      (secret) =>
        new PlainHash(
          createHash(algorithm).update(before(secret)).update(frame.before),
          frame.after + after(secret),
        ),
    ),
  }));
}

/** HMACs with other hashes, because a sender may cut them off to the length of the right HMAC. */
export function cutHashVariants({ algorithm, keys, frame }: HashContext): HashVariant[] {
  return (['sha256', 'sha512'] as const)
    .filter((other) => other !== algorithm)
    .map((other) => ({
      code: otherHashCode(other),
      would: `as the first digits of an HMAC with ${HASH_NAMES[other]}`,
      digests: keys.map((key) => keyedHmac(other, key, frame)),
    }));
}

export const HASH_NAMES: Readonly<Record<HmacAlgorithm, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
  md5: 'MD5',
};

/** Name of an HMAC without a hyphen in its hash: `HMAC-SHA256`. */
export function hmacName(algorithm: HmacAlgorithm): string {
  return `HMAC-${HASH_NAMES[algorithm].replace('-', '')}`;
}

/** The reason code for a signature made with this hash, which is not the hash of the scheme. */
export function otherHashCode(algorithm: HmacAlgorithm): ReasonCode {
  return algorithm === 'sha256' ? 'sha256' : 'other-hash';
}

type Part = (secret: string) => string;
const nothing: Part = () => '';
const itself: Part = (secret) => secret;

const PLAIN_HASHES: readonly (readonly [formula: string, before: Part, after: Part])[] = [
  ['body', nothing, nothing],
  ['secret + body', itself, nothing],
  ['body + secret', nothing, itself],
  ['secret + ":" + body', (secret) => `${secret}:`, nothing],
  ['body + ":" + secret', nothing, (secret) => `:${secret}`],
  ['secret + body + secret', itself, itself],
];

class PlainHash implements StreamingDigest {
  readonly #hash: Hash;
  readonly #after: string;

  constructor(hash: Hash, after: string) {
    this.#hash = hash;
    this.#after = after;
  }

  update(bytes: Uint8Array | string): this {
    this.#hash.update(bytes);
    return this;
  }

  copy(): PlainHash {
    return new PlainHash(this.#hash.copy(), this.#after);
  }

  digest(tail: Uint8Array | string = ''): Buffer {
    return this.#hash.copy().update(tail).update(this.#after).digest();
  }
}
