import { SignatureError } from '../errors.ts';
import { BodyDigests } from './body/body-digests.ts';
import { whyDiffers } from './body/why-differs.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import { readSignature, sameDigest, type GivenSignature } from './given-signature.ts';
import type { HeaderList } from './schemes/header-list.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import { isBlankSecret } from './secret.ts';
import { sign } from './sign.ts';
import type { SchemeMatch, SignatureVerification } from './signature-verification.ts';

/** Verifies a signature by the lenient rules of the contract: over the bytes, then over the JSON-stringified body. */
export function lenientVerification(
  scheme: SignatureScheme,
  signature: string | null | undefined,
  { secrets, headers }: { readonly secrets: readonly string[]; readonly headers: HeaderList },
): SignatureVerification {
  const given = readSignature(signature);
  // HMAC-SHA1 of the body with each secret: the valid signatures.
  const right = new BodyDigests('sha1', secrets);
  // Digests for the diagnosis. They are made with the hash that the signature seems to be made with.
  const digests = given.shape === 'other-hash' ? new BodyDigests(given.algorithm, secrets) : right;
  return {
    scheme,
    got: signature ?? '',
    update(chunk) {
      digests.update(chunk);
      if (right !== digests) right.update(chunk);
    },
    match: (bodyOf) => matchOverBytes(digests, given) ?? matchOverStringified(bodyOf(), given, secrets),
    evidence: (known) => ({
      kind: 'lenient',
      scheme,
      headers,
      given,
      digests,
      secrets,
      keys: secrets,
      ...known,
    }),
    expected: () => right.all()[0]?.toString('hex') ?? '',
  };
}

function matchOverBytes(digests: BodyDigests, given: GivenSignature): SchemeMatch | undefined {
  if (given.shape !== 'sha1') return undefined;
  const secret = 1 + digests.all().findIndex((each) => sameDigest(each, given.digest));
  return secret > 0 ? { secret, over: 'bytes' } : undefined;
}

/** Matches a signature against the JSON-stringified body. Call it only if the signature did not match the bytes. */
export function matchOverStringified(
  body: KeptBody | undefined,
  given: GivenSignature,
  secrets: readonly string[],
): SchemeMatch | LossyMatch | undefined {
  // A body that already is JSON-stringified needs no second comparison, because its bytes did not match.
  if (given.shape !== 'sha1' || body?.stringified === undefined || body.isStringified) return undefined;
  const secret = indexOfSigner(body.stringified, given.digest, secrets);
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
