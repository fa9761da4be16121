import { createHash, createHmac } from 'node:crypto';
import type { HmacAlgorithm, HmacFrame } from '../../signature/hmac.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import type { Cost } from './change.ts';
import type { Secret } from './secret-changes.ts';

/** Everything that a digest is computed from. */
export interface SignedParts {
  readonly algorithm: HmacAlgorithm;
  readonly secret: Secret;
  readonly frame: HmacFrame;
  readonly body: Buffer;
}

/** A way to make a digest of a secret and a body in place of the HMAC. */
export interface Construct {
  readonly code: ReasonCode;
  readonly would: (hashName: string) => string;
  readonly cost: Cost;
  readonly digest: (parts: SignedParts) => Buffer;
}

/** Wrong ways to make a digest, the most common first. */
export const CONSTRUCTS: readonly Construct[] = [
  plain('body', ({ body }) => [body]),
  plain('secret + body', ({ secret, body }) => [secret, body]),
  plain('body + secret', ({ secret, body }) => [body, secret]),
  plain('secret + ":" + body', ({ secret, body }) => [secret, ':', body]),
  plain('body + ":" + secret', ({ secret, body }) => [body, ':', secret]),
  plain('secret + body + secret', ({ secret, body }) => [secret, body, secret]),
  {
    code: 'plain-hash',
    would: () => 'with the body as the key and the secret as the message',
    cost: 2,
    digest: ({ algorithm, secret, body }) => createHmac(algorithm, body).update(secret).digest(),
  },
  {
    code: 'plain-hash',
    would: (name) => `as ${name} of the hex digits of the right HMAC`,
    cost: 3,
    digest: (parts) => createHash(parts.algorithm).update(rightHmac(parts).toString('hex')).digest(),
  },
  {
    code: 'plain-hash',
    would: () => 'as the HMAC of the right HMAC in hex',
    cost: 3,
    digest: (parts) => rightHmac({ ...parts, body: Buffer.from(rightHmac(parts).toString('hex')) }),
  },
];

type Piece = string | Uint8Array;

/**
 * Makes the construct that hashes `pieces` without a key. `formula` describes the pieces to the reader. The body includes the
 * prefix and suffix that are signed around it.
 */
function plain(formula: string, pieces: (parts: SignedParts) => readonly Piece[]): Construct {
  return {
    code: 'plain-hash',
    would: (name) => `as ${name}(${formula}), a plain hash in place of an HMAC`,
    cost: 2,
    digest: (parts) => {
      const { algorithm, frame, body } = parts;
      const isFramed = frame.before !== '' || frame.after !== '';
      const framed = isFramed
        ? Buffer.concat([Buffer.from(frame.before), body, Buffer.from(frame.after)])
        : body;
      const hash = createHash(algorithm);
      for (const piece of pieces({ ...parts, body: framed })) hash.update(piece);
      return hash.digest();
    },
  };
}

function rightHmac({ algorithm, secret, frame, body }: SignedParts): Buffer {
  const hmac = createHmac(algorithm, secret);
  if (frame.before !== '') hmac.update(frame.before);
  hmac.update(body);
  if (frame.after !== '') hmac.update(frame.after);
  return hmac.digest();
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
