import { timingSafeEqual } from 'node:crypto';
import { SignatureError } from '../errors.ts';
import { kindOf } from '../validate-options.ts';
import { whyDiffers } from './body/why-differs.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import { isBlankSecret } from './secret.ts';
import { sign } from './sign.ts';
import type { SchemeMatch } from './signature-verification.ts';

/**
 * Returns a signature header as text. A missing header counts as an empty signature. Throws SignatureError if the value is
 * not a string, because headers are strings.
 */
export function signatureText(given: unknown): string {
  const text = given ?? '';
  if (typeof text === 'string') return text;
  throw new SignatureError(`Expected the signature to be a string, got ${kindOf(given)}`, {
    reason: 'signature-type',
    hint: 'pass the value of the X-Signature header as received; undefined if there is none',
  });
}

/**
 * Reads a signature as the contract allows: `HEX`, `sha1=HEX` or `X-Signature: HEX`, in upper or lower case, with white
 * space around it. Undefined for any other text, which never matches.
 */
export function lenientDigest(text: string): Buffer | undefined {
  const digits = /^(?:x-signature\s*:\s*)?(?:sha1=)?\s*([0-9a-f]{40})$/i.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Buffer.from(digits, 'hex');
}

/** Describes a prefix that a lenient scheme accepts but other receivers reject. Undefined if the signature has none. */
export function prefixWarning(text = ''): string | undefined {
  return /^\s*(?:x-signature\s*:\s*)?sha1=/i.test(text) ? SHA1_PREFIX : undefined;
}

const SHA1_PREFIX =
  'the signature has the prefix sha1=, which Segment does not send: a receiver that compares the whole header rejects it';

/** Whether two digests are equal, in constant time for equal lengths. */
export function sameDigest(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Whether an untrusted text equals the right one, in constant time for equal lengths. */
export function sameText(given: string, right: string): boolean {
  return sameDigest(Buffer.from(given), Buffer.from(right));
}

/** Matches a digest against the JSON-stringified body. Call it only if the digest did not match the bytes. */
export function matchOverStringified(
  body: KeptBody | undefined,
  digest: Buffer | undefined,
  secrets: readonly string[],
): SchemeMatch | LossyMatch | undefined {
  // A body that already is JSON-stringified needs no second comparison, because its bytes did not match.
  if (digest === undefined || body?.stringified === undefined || body.isStringified) return undefined;
  const secret = indexOfSigner(body.stringified, digest, secrets);
  if (secret === 0) return undefined;
  if (body.lossy !== undefined) return body.lossy;
  const note = whyDiffers(body.bytes.toString('utf8'), body.stringified);
  return { secret, over: 'stringified', note };
}

/** The number of the secret, from 1, that gives this digest; 0 if none does. */
export function indexOfSigner(body: Uint8Array | string, digest: Buffer, secrets: readonly string[]): number {
  rejectEmptySecrets(secrets);
  return 1 + secrets.findIndex((secret) => sameDigest(Buffer.from(sign(body, secret), 'hex'), digest));
}

/** Throws SignatureError if there is no secret, a blank one, or one that is not a string. */
export function rejectEmptySecrets(secrets: readonly string[]): void {
  if (!Array.isArray(secrets) || secrets.some((secret) => typeof secret !== 'string')) {
    throw new SignatureError('Expected `secrets` to be a list of strings', {
      reason: 'secret-type',
      hint: "write secrets: ['the secret that the sender signs with']",
    });
  }
  if (secrets.length > 0 && !secrets.some(isBlankSecret)) return;
  throw new SignatureError('Expected at least one secret to verify with, got none or a blank one', {
    reason: 'empty-secret',
    hint: 'give every secret that the sender may sign with; anyone could sign with a blank one',
  });
}
