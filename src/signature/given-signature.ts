import { timingSafeEqual } from 'node:crypto';
import { SignatureError } from '../errors.ts';
import { kindOf } from '../validate-options.ts';
import type { HmacAlgorithm } from './hmac.ts';

/** A signature as received, classified by its shape. Only `sha1` can match. */
export type GivenSignature =
  | { readonly shape: 'sha1'; readonly digest: Buffer }
  /**
   * A signature with the length of another hash's digest, in hex or base64. 32 hex digits, which could be MD5, are `short`
   * instead.
   */
  | { readonly shape: 'other-hash'; readonly algorithm: OtherHash; readonly digest: Buffer }
  /** A signature of 20 bytes in base64 or base64url, or the base64 of the 40 hex digits. */
  | { readonly shape: 'base64'; readonly digest: Buffer }
  /** A signature of fewer than 40 hex digits. `digits` has them in lower case. */
  | { readonly shape: 'short'; readonly digits: string }
  /** Several signatures of 40 hex digits, such as two headers that were joined. */
  | { readonly shape: 'several'; readonly digests: readonly Buffer[] }
  /** A signature of 40 hex digits that has other characters between or around the digits. */
  | { readonly shape: 'decorated'; readonly digest: Buffer }
  | { readonly shape: 'unknown'; readonly text: string };

export type OtherHash = Exclude<HmacAlgorithm, 'sha1'>;

const HASH_BY_BYTES: Readonly<Record<number, OtherHash>> = {
  16: 'md5',
  32: 'sha256',
  48: 'sha384',
  64: 'sha512',
};

/**
 * Reads a signature: `HEX`, `sha1=HEX` or `X-Signature: HEX`, in upper or lower case, ignoring white space around it. A
 * missing header counts as an empty signature. Throws SignatureError if the value is not a string, because headers are
 * strings.
 */
export function readSignature(given: unknown): GivenSignature {
  const text = given ?? '';
  if (typeof text !== 'string') {
    throw new SignatureError(`Expected the signature to be a string, got ${kindOf(given)}`, {
      reason: 'signature-type',
      hint: 'pass the value of the X-Signature header as received; undefined if there is none',
    });
  }
  const value = text.trim().replace(/^x-signature\s*:\s*/i, '');
  const bare = value.replace(/^(?:sha-?(?:1|256|384|512)|md5)=/i, '').trim();
  if (/^[0-9a-f]{40}$/i.test(value.replace(/^sha1=/i, '').trim())) {
    return { shape: 'sha1', digest: Buffer.from(bare, 'hex') };
  }
  if (/^[0-9a-f]{0,39}$/i.test(bare)) return { shape: 'short', digits: bare.toLowerCase() };
  const algorithm = /^[0-9a-f]+$/i.test(bare) ? HASH_BY_BYTES[bare.length / 2] : undefined;
  if (algorithm !== undefined) return { shape: 'other-hash', algorithm, digest: Buffer.from(bare, 'hex') };
  return base64Signature(bare) ?? severalSignatures(bare) ?? decoratedSignature(bare, value);
}

/** Whether two digests are equal, in constant time for equal lengths. */
export function sameDigest(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether an untrusted text equals the right one, in constant time for equal lengths. */
export function sameText(given: string, right: string): boolean {
  return sameDigest(Buffer.from(given), Buffer.from(right));
}

function base64Signature(text: string): GivenSignature | undefined {
  if (!/^[0-9a-z+/_-]+={0,2}$/i.test(text)) return undefined;
  const digest = Buffer.from(text, 'base64');
  if (digest.length === 20) return { shape: 'base64', digest };
  const algorithm = HASH_BY_BYTES[digest.length];
  // An unpadded base64 text of 16 bytes is not taken for MD5, because any word of 22 letters has that form.
  if (algorithm !== undefined && (algorithm !== 'md5' || text.endsWith('=='))) {
    return { shape: 'other-hash', algorithm, digest };
  }
  const digits = digest.toString('latin1');
  if (/^[0-9a-f]{40}$/i.test(digits)) return { shape: 'base64', digest: Buffer.from(digits, 'hex') };
  return undefined;
}

function severalSignatures(text: string): GivenSignature | undefined {
  const parts = text.split(/[\s,;]+/).map((part) => part.replace(/^sha1=/i, ''));
  if (parts.length < 2 || !parts.every((part) => /^[0-9a-f]{40}$/i.test(part))) return undefined;
  return { shape: 'several', digests: parts.map((part) => Buffer.from(part, 'hex')) };
}

/** Reads hex digits in quotes, after `0x` or another prefix, or with colons or spaces between the bytes. */
function decoratedSignature(bare: string, value: string): GivenSignature {
  const digits = bare.replace(/^\W*(?:0x|hmac\W|sha-?1\W|v\d\W)/i, '').replace(/[^0-9a-z]/gi, '');
  if (/^[0-9a-f]{40}$/i.test(digits)) return { shape: 'decorated', digest: Buffer.from(digits, 'hex') };
  return { shape: 'unknown', text: value };
}

export function isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean {
  return digests.some((each) => sameDigest(each, digest));
}
