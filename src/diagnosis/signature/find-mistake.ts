import type { BodyDigests } from '../../signature/body/body-digests.ts';
import type { BodyVariant } from './body/body-variant.ts';
import { cheapBodyVariants, costlyBodyVariants } from './body/body-variants.ts';
import type { Deadline } from '../../signature/deadline.ts';
import type { ExplainContext } from '../../signature/evidence.ts';
import { sameDigest, isOneOf, type GivenSignature } from '../../signature/given-signature.ts';
import { keyedHmac, type HmacFrame } from '../../signature/hmac.ts';
import { cutHashVariants, hashVariants, type StreamingDigest } from './hash-variants.ts';
import { LARGEST_DIAGNOSED, type KeptBody } from '../../signature/body/kept-body.ts';
import type { Mistake } from './mistake.ts';
import { otherSecrets } from './other-secrets.ts';
import { secretVariants, type SecretVariant } from './secret-variants.ts';

/** The facts about a mismatch, and the wrong prefixes and suffixes that a search for its cause tries. */
export interface Evidence extends Omit<ExplainContext, 'deadline'> {
  readonly given: GivenSignature;
  readonly digests: BodyDigests;
  readonly secrets: readonly string[];
  readonly keys: readonly (string | Uint8Array)[];
  /**
   * How to sign by the scheme. Absent for the lenient rules of `X-Signature`, because the fix of each code describes
   * them.
   */
  readonly recipe?: string;
  /** Wrong prefixes and suffixes that the sender may have signed around the body. */
  readonly frames: readonly FrameVariant[];
}

/** A prefix and suffix that were wrongly signed with the body. */
export interface FrameVariant extends Mistake {
  readonly frame: HmacFrame;
}

export type MistakeSearch =
  | { readonly kind: 'found'; readonly mistake: Mistake }
  /** No common mistake produces the digest. */
  | { readonly kind: 'none' }
  /** The body is too large to try all common mistakes. */
  | { readonly kind: 'too-large' }
  /** The time was up before all common mistakes were tried. */
  | { readonly kind: 'stopped'; readonly afterMs: number };

/** Finds the likeliest common mistake that produces this digest. */
export function findMistake(evidence: Evidence, digest: Buffer, deadline: Deadline): MistakeSearch {
  const ending = otherEnding(evidence, digest);
  if (ending !== undefined) return { kind: 'found', mistake: ending };
  const { body } = evidence;
  if (body === undefined) return { kind: 'too-large' };
  for (const guess of guesses({ ...evidence, body }, deadline)) {
    if (deadline.isOver) break;
    const mistake = tryGuess(guess, digest, deadline);
    if (mistake !== undefined) return { kind: 'found', mistake };
  }
  if (deadline.isOver) return { kind: 'stopped', afterMs: deadline.budgetMs };
  return { kind: body.bytes.length > LARGEST_DIAGNOSED ? 'too-large' : 'none' };
}

function otherEnding({ digests }: Evidence, digest: Buffer): Mistake | undefined {
  for (const ending of digests.otherEndings()) {
    if (isOneOf(digest, ending.digests)) return { code: 'trailing-newline', would: ending.would };
  }
  return undefined;
}

interface MistakeGuess {
  readonly mistake: Mistake;
  /** Digests to compute over `bytes`, such as one per key. None has been updated with `bytes` yet. */
  readonly digests: readonly StreamingDigest[];
  readonly bytes: BodyVariant['bytes'];
}

/**
 * Yields possible mistakes of the sender that explain the mismatch, the cheapest to try first, because the deadline may end
 * the search early.
 */
function* guesses(
  evidence: Evidence & { readonly body: KeptBody },
  deadline: Deadline,
): Generator<MistakeGuess> {
  const { body, keys, frames } = evidence;
  const { algorithm, frame } = evidence.digests;
  const digests = keys.map((key) => keyedHmac(algorithm, key, frame));
  for (const mistake of cheapBodyVariants(body)) yield { mistake, digests, bytes: mistake.bytes };
  for (const mistake of frames) {
    const framed = keys.map((key) => keyedHmac(algorithm, key, mistake.frame));
    yield { mistake, digests: framed, bytes: body.bytes };
  }
  // Combines wrong keys and hashes with the received bytes, then with the JSON-stringified body if its bytes are different.
  // The received bytes are first, because they only need hashing.
  const isFixedPoint = body.json === undefined || body.bytes.equals(Buffer.from(body.json));
  for (const bytes of isFixedPoint ? [body.bytes] : [body.bytes, body.json ?? '']) {
    yield* keyAndHashGuesses(evidence, bytes);
  }
  for (const mistake of costlyBodyVariants(body, deadline)) yield { mistake, digests, bytes: mistake.bytes };
}

function* keyAndHashGuesses(evidence: Evidence, bytes: Uint8Array | string): Generator<MistakeGuess> {
  const { secrets, keys } = evidence;
  const { algorithm, frame } = evidence.digests;
  for (const mistake of otherKeys(evidence)) {
    yield { mistake, digests: [keyedHmac(algorithm, mistake.key, frame)], bytes };
  }
  const context = { algorithm, secrets, keys, frame };
  for (const mistake of [...hashVariants(context), ...cutHashVariants(context)]) {
    yield { mistake, digests: mistake.digests, bytes };
  }
  for (const secret of secrets) {
    yield { mistake: SWAPPED, digests: [keyedHmac(algorithm, bytes)], bytes: secret };
  }
}

const SWAPPED: Mistake = {
  code: 'plain-hash',
  would: 'with the body as the key and the secret as the message',
};

/** Yields keys from the right secrets with a slight mistake, then keys from different secrets. */
function* otherKeys({ secrets, keys, otherSecrets: known }: Evidence): Generator<SecretVariant> {
  for (const secret of secrets) yield* secretVariants(secret, keys);
  yield* otherSecrets(known);
}

const ENDINGS = [
  ['', ''],
  ['\n', ' and a newline at its end'],
] as const;

function tryGuess(
  { mistake, digests, bytes }: MistakeGuess,
  digest: Buffer,
  deadline: Deadline,
): Mistake | undefined {
  const tried = digests.map((each) => each.copy());
  const write = (piece: Uint8Array | string): boolean => {
    for (const each of tried) each.update(piece);
    return !deadline.isOver;
  };
  if (typeof bytes === 'function') bytes(write);
  else write(bytes);
  // Compares as many bytes as the received digest has, because a sender may have cut off a longer digest to the expected
  // length.
  const isMatch = (made: Buffer): boolean => sameDigest(made.subarray(0, digest.length), digest);
  const ending = ENDINGS.find(([tail]) => tried.some((each) => isMatch(each.digest(tail))));
  return ending && { code: mistake.code, would: mistake.would + ending[1], fix: mistake.fix };
}
