import type { BodyDigests } from '../../signature/body/body-digests.ts';
import type { BodyVariant } from './body/body-variant.ts';
import { cheapBodyVariants, costlyBodyVariants } from './body/body-variants.ts';
import type { Deadline } from '../../signature/deadline.ts';
import type { ExplainContext, OtherSecret } from '../../signature/evidence.ts';
import { sameDigest, isOneOf, type GivenSignature } from '../../signature/given-signature.ts';
import { keyedHmac, type HmacFrame } from '../../signature/hmac.ts';
import { cutHashVariants, hashVariants, type StreamingDigest } from './hash-variants.ts';
import { LARGEST_DIAGNOSED, type KeptBody } from '../../signature/body/kept-body.ts';
import type { ReasonCode } from '../../signature/reasons.ts';
import { otherSecrets } from './other-secrets.ts';
import { secretVariants, type SecretVariant } from './secret-variants.ts';

/** The facts of a mismatch, and what to try besides the body and the keys. */
export interface Evidence extends Omit<ExplainContext, 'deadline'> {
  readonly given: GivenSignature;
  readonly digests: BodyDigests;
  readonly secrets: readonly string[];
  readonly keys: readonly (string | Uint8Array)[];
  /** How to sign by the scheme, where the fixes of the codes are not about it. */
  readonly recipe?: string;
  /** What else than the right texts may have been signed before and after the body. */
  readonly frames: readonly FrameVariant[];
}

/** Other texts that may have been signed before and after the body. */
export interface FrameVariant extends Mistake {
  readonly frame: HmacFrame;
}

export interface Mistake {
  readonly code: ReasonCode;
  /** Follows "it would match". */
  readonly would: string;
  /** @default the fix of the code */
  readonly fix?: string | undefined;
}

export type MistakeSearch =
  | { readonly kind: 'found'; readonly mistake: Mistake }
  /** All common mistakes were tried. */
  | { readonly kind: 'none' }
  /** The body is too large for some of them to be tried. */
  | { readonly kind: 'too-large' }
  /** The time was up before all mistakes were tried. */
  | { readonly kind: 'stopped'; readonly afterMs: number };

/** Finds the likeliest common mistake that gives this digest. */
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
  /** The digests to try, before any update. */
  readonly digests: readonly StreamingDigest[];
  readonly bytes: BodyVariant['bytes'];
}

/** Yields the guesses, the cheapest first, since the time is short. */
function* guesses(
  evidence: Evidence & { readonly body: KeptBody },
  deadline: Deadline,
): Generator<MistakeGuess> {
  const {
    body,
    keys,
    digests: { algorithm, frame },
  } = evidence;
  const digests = keys.map((key) => keyedHmac(algorithm, key, frame));
  const ofBody = (variant: BodyVariant): MistakeGuess => ({
    mistake: variant,
    digests,
    bytes: variant.bytes,
  });
  for (const variant of cheapBodyVariants(body)) yield ofBody(variant);
  yield* otherFrameGuesses(evidence);
  // Over the bytes first: that costs only their length.
  const isFixedPoint = body.json === undefined || body.bytes.equals(Buffer.from(body.json));
  for (const bytes of isFixedPoint ? [body.bytes] : [body.bytes, body.json ?? '']) {
    yield* otherKeyGuesses(evidence, bytes);
    yield* otherHashGuesses(evidence, bytes);
  }
  for (const variant of costlyBodyVariants(body, deadline)) yield ofBody(variant);
}

function* otherFrameGuesses({
  body,
  keys,
  frames,
  digests: { algorithm },
}: Evidence & { readonly body: KeptBody }): Generator<MistakeGuess> {
  for (const variant of frames) {
    const digests = keys.map((key) => keyedHmac(algorithm, key, variant.frame));
    yield { mistake: variant, digests, bytes: body.bytes };
  }
}

function* otherKeyGuesses(evidence: Evidence, bytes: Uint8Array | string): Generator<MistakeGuess> {
  const {
    secrets,
    otherSecrets: known,
    keys,
    digests: { algorithm, frame },
  } = evidence;
  for (const variant of otherKeys({ secrets, keys, known })) {
    yield { mistake: variant, digests: [keyedHmac(algorithm, variant.key, frame)], bytes };
  }
}

function* otherHashGuesses(evidence: Evidence, bytes: Uint8Array | string): Generator<MistakeGuess> {
  const {
    secrets,
    keys,
    digests: { algorithm, frame },
  } = evidence;
  const context = { algorithm, secrets, keys, frame };
  for (const mistake of [...hashVariants(context), ...cutHashVariants(context)]) {
    yield { mistake, digests: mistake.digests, bytes };
  }
  const swapped = {
    code: 'plain-hash',
    would: 'with the body as the key and the secret as the message',
  } as const;
  for (const secret of secrets) {
    yield { mistake: swapped, digests: [keyedHmac(algorithm, bytes)], bytes: secret };
  }
}

/** Yields secrets that are slightly wrong, then different ones. */
function* otherKeys({
  secrets,
  keys,
  known,
}: Pick<Evidence, 'secrets' | 'keys'> & {
  readonly known: readonly OtherSecret[];
}): Generator<SecretVariant> {
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
  // A longer digest may have been cut to the length of the one that is right.
  const isMatch = (made: Buffer): boolean => sameDigest(made.subarray(0, digest.length), digest);
  const ending = ENDINGS.find(([tail]) => tried.some((each) => isMatch(each.digest(tail))));
  return ending && { code: mistake.code, would: mistake.would + ending[1], fix: mistake.fix };
}
