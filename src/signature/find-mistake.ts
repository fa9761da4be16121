import type { BodyDigests } from './body-digests.ts';
import { bodyVariants, type BodyVariant } from './body-variants.ts';
import { sameDigest, type GivenSignature } from './given-signature.ts';
import { StreamingHmac, type HmacAlgorithm } from './hmac.ts';
import type { KeptBody } from './kept-body.ts';
import type { ReasonCode } from './reason.ts';
import { otherSecrets, secretVariants, type OtherSecret } from './secret-variants.ts';

export interface Evidence {
  readonly given: GivenSignature;
  /** Of the body as received. */
  readonly digests: BodyDigests;
  readonly secrets: readonly string[];
  readonly otherSecrets: readonly OtherSecret[];
  /** Undefined when it was too large to keep: then only what one pass over it gives is tried. */
  readonly body: KeptBody | undefined;
}

export interface Mistake {
  readonly code: ReasonCode;
  /** Follows "it would match". */
  readonly would: string;
}

export interface Search {
  readonly found?: Mistake;
  /** False when the body is too large for some of the usual mistakes to be tried. */
  readonly all: boolean;
}

/** The usual mistake that gives this digest, the likeliest of them. */
export function findMistake(evidence: Evidence, digest: Buffer): Search {
  const found = otherEnding(evidence, digest);
  if (found !== undefined) return { found, all: true };
  const bodies = firstMatching(digest, otherBodies(evidence));
  if (bodies.found !== undefined) return bodies;
  const keys = firstMatching(digest, otherKeys(evidence));
  return { ...keys, all: keys.all && bodies.all && evidence.body !== undefined };
}

function otherEnding({ digests }: Evidence, digest: Buffer): Mistake | undefined {
  for (const ending of digests.otherEndings()) {
    if (isOneOf(digest, ending.digests)) return { code: 'trailing-newline', would: ending.would };
  }
  return undefined;
}

interface Guess {
  readonly mistake: Mistake;
  readonly algorithm: HmacAlgorithm;
  readonly keys: readonly (string | Uint8Array)[];
  readonly bytes: BodyVariant['bytes'];
}

function* otherBodies({ body, secrets, digests: { algorithm } }: Evidence): Generator<Guess> {
  if (body === undefined) return;
  for (const mistake of bodyVariants(body)) yield { mistake, algorithm, keys: secrets, bytes: mistake.bytes };
}

/** A secret that is slightly wrong, or quite another, over the bytes or the JSON-stringified body. */
function* otherKeys({
  body,
  secrets,
  otherSecrets: atHand,
  digests: { algorithm },
}: Evidence): Generator<Guess> {
  if (body === undefined) return;
  const { bytes: received, json } = body;
  for (const mistake of [
    ...secrets.flatMap((secret) => [...secretVariants(secret)]),
    ...otherSecrets(atHand),
  ]) {
    for (const bytes of json === undefined ? [received] : [received, json]) {
      yield { mistake, algorithm, keys: [mistake.key], bytes };
    }
  }
}

/**
 * A large body, or one with many parts, gets fewer guesses: whoever can send one unsigned request could stop a receiver
 * for many seconds otherwise. Counted in bytes hashed, not in time, so that a body always gets the same answer. Enough
 * for all guesses at a batch of the largest size (contract, Batching client).
 */
const MOST_WORK = 160 * 1024 * 1024;
/** What making an HMAC takes, however short its text. */
const WORK_OF_HMAC = 8 * 1024;
/** What is spelled anew takes longer than what is only hashed. */
const SPELLED_FACTOR = 8;

function firstMatching(digest: Buffer, guesses: Iterable<Guess>): Search {
  let work = 0;
  for (const guess of guesses) {
    if (work > MOST_WORK) return { all: false };
    const { ending, bytes } = tryGuess(digest, guess);
    if (ending !== undefined) {
      const { code, would } = guess.mistake;
      return { found: { code, would: would + ending }, all: true };
    }
    const factor = typeof guess.bytes === 'function' ? SPELLED_FACTOR : guess.keys.length;
    work += bytes * factor + WORK_OF_HMAC * guess.keys.length;
  }
  return { all: true };
}

const ENDINGS = [
  ['', ''],
  ['\n', ' and a newline at its end'],
] as const;

interface Tried {
  /** The words for the ending with which these bytes give the digest; undefined: with none. */
  readonly ending: string | undefined;
  readonly bytes: number;
}

function tryGuess(digest: Buffer, { algorithm, keys, bytes }: Guess): Tried {
  const hmacs = keys.map((key) => new StreamingHmac(algorithm, key));
  let length = 0;
  const feed = (piece: Uint8Array | string): void => {
    length += piece.length;
    for (const hmac of hmacs) hmac.update(piece);
  };
  if (typeof bytes === 'function') bytes(feed);
  else feed(bytes);
  const ending = ENDINGS.find(([tail]) => hmacs.some((hmac) => sameDigest(hmac.digest(tail), digest)));
  return { ending: ending?.[1], bytes: length };
}

function isOneOf(digest: Buffer, digests: readonly Buffer[]): boolean {
  return digests.some((each) => sameDigest(each, digest));
}
