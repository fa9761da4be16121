import { LARGEST_DIAGNOSED, type KeptBody } from '../../signature/body/kept-body.ts';
import type { Deadline } from '../../signature/deadline.ts';
import type { SignatureEvidence } from '../../signature/evidence.ts';
import type { HmacAlgorithm, HmacFrame } from '../../signature/hmac.ts';
import { schemeKey } from '../../signature/schemes/secrets.ts';
import { bodyChangeLists, bodyReplacements, BodyCandidate } from './body/body-changes.ts';
import { Variants, type SignatureChange, type Changed, type Cost, type Variant } from './change.ts';
import { CONSTRUCTS, hashName, hmacOf, type Construct } from './constructs.ts';
import { FrameChanges, type FrameChange } from './frames.ts';
import { otherSecrets, undecoded } from './other-secrets.ts';
import type { Reading } from './readings/readings.ts';
import { keyOfSecret, secretChanges, type Secret } from './secret-changes.ts';

export type SearchResult =
  /** These changes reproduce the signature. `changes` is empty if the digest itself is right. */
  | { readonly kind: 'found'; readonly reading: Reading; readonly changes: readonly NamedChange[] }
  /** No combination within the limits reproduces the signature. `tried` is the number of combinations. */
  | { readonly kind: 'none'; readonly tried: number }
  /** No tried combination reproduces the signature. The body is too large to try all changes to it. */
  | { readonly kind: 'too-large' }
  /** The time limit of `afterMs` ended the search before all combinations were tried. */
  | { readonly kind: 'stopped'; readonly tried: number; readonly afterMs: number };

export type SuccessfulSearch = Extract<SearchResult, { kind: 'found' }>;
export type FailedSearch = Exclude<SearchResult, SuccessfulSearch>;

/** The fields of a change that go into the explanation for the user. */
export type NamedChange = Pick<SignatureChange, 'code' | 'would' | 'fix'>;

/** Maximum sum of costs in a combination (`all`), and of successive changes to its secret or to its body. */
const MOST_COST = { all: 4, secret: 3, body: 3 };
/** Maximum number of changes in a combination, by the sum of their costs. At the highest sum, a change is tried alone. */
const MOST_CHANGES = [0, 1, 2, 3, 1];

/** Bytes to hash between two checks of the deadline. A check takes a tenth of the time of a short digest. */
const BYTES_BETWEEN = 8_192;
/** Bytes to count for an HMAC besides its body: four blocks of 64 bytes, for the key, the inner hash and padding. */
const BLOCK_BYTES = 256;

/**
 * Searches for the cheapest combination of mistakes that reproduces the signature: changes to the secret and the body,
 * and wrong text around the body or a wrong way to compute the digest. `readings` are the ways to read the signature.
 */
export function searchChanges(
  evidence: SignatureEvidence & { readonly body: KeptBody },
  readings: readonly Reading[],
): SearchResult {
  const search = new ChangeSearch(evidence);
  for (let sum = 0; sum <= MOST_COST.all; sum++) {
    for (const [first, ...others] of groups(readings, sum)) {
      if (first === undefined) continue;
      const found = search.at(sum - first.cost, [first, ...others]);
      if (found !== undefined) return found;
      if (search.isStopped) {
        return { kind: 'stopped', tried: search.tried, afterMs: evidence.deadline.budgetMs };
      }
    }
  }
  const isLarge = evidence.body.bytes.length > LARGEST_DIAGNOSED;
  return isLarge ? { kind: 'too-large' } : { kind: 'none', tried: search.tried };
}

/** Selects the readings that cost at most `sum`, and groups those that are compared with the same digests. */
function groups(readings: readonly Reading[], sum: number): readonly (readonly Reading[])[] {
  const byDigest = new Map<string, Reading[]>();
  for (const reading of readings.filter(({ cost }) => cost <= sum)) {
    const key = `${reading.algorithm} ${reading.cost}`;
    byDigest.set(key, [...(byDigest.get(key) ?? []), reading]);
  }
  return [...byDigest.values()];
}

/** Wrong text around the body (`frame`) or a wrong way to compute the digest (`construct`). Never both. */
interface Structure {
  readonly frame?: FrameChange | undefined;
  readonly construct?: Construct | undefined;
}

interface Combination extends Structure {
  readonly secret: Variant<Secret>;
  readonly body: Variant<BodyCandidate>;
}

class ChangeSearch {
  tried = 0;
  /** Whether the search ended early, because the deadline passed. */
  isStopped = false;
  /** Bytes that were hashed since the last check of the deadline. Starts high, so that the first digest causes one. */
  #hashed = BYTES_BETWEEN;
  readonly #deadline: Deadline;
  readonly #received: KeptBody;
  readonly #rightFrame: HmacFrame;
  readonly #secrets: Variants<Secret>;
  readonly #bodies: Variants<BodyCandidate>;
  readonly #frames: FrameChanges;

  constructor(evidence: SignatureEvidence & { readonly body: KeptBody }) {
    const { body, deadline, digests, scheme, presented } = evidence;
    const { text = '', json = text } = body;
    this.#deadline = deadline;
    this.#received = body;
    this.#rightFrame = digests.frame;
    this.#secrets = secretVariants(evidence);
    this.#bodies = new Variants<BodyCandidate>({
      roots: [
        new BodyCandidate(body.bytes, true, body),
        ...(evidence.acceptsStringified && json !== text ? [new BodyCandidate(json, false)] : []),
      ],
      change: (value, cost) => bodyChangeLists(value, cost, deadline),
      replace: bodyReplacements,
      keyOf: ({ key }) => key,
      mostCost: body.bytes.length > LARGEST_DIAGNOSED ? 2 : MOST_COST.body,
    });
    this.#frames = new FrameChanges(scheme, evidence, presented.fields);
  }

  /** Tries the combinations that cost `sum`. Uses plain loops, because a generator step takes as long as a digest. */
  at(sum: number, readings: readonly Reading[]): SuccessfulSearch | undefined {
    let match = this.#tryPairs(sum, {}, readings);
    for (const construct of CONSTRUCTS) match ??= this.#tryPairs(sum, { construct }, readings);
    for (const frame of this.#frames.upTo(sum)) match ??= this.#tryPairs(sum, { frame }, readings);
    return match;
  }

  /** Tries each pair of a secret and a body that costs `sum` with the frame or construct, until one matches. */
  #tryPairs(
    sum: number,
    { frame, construct }: Structure,
    readings: readonly Reading[],
  ): SuccessfulSearch | undefined {
    const base = frame?.cost ?? construct?.cost ?? 0;
    const most = (MOST_CHANGES[sum] ?? 0) - Math.sign(base);
    if (this.isStopped || base > sum || (base < sum && most <= 0)) return undefined;
    // Tries changes to the secret first, because changes to a large body take longer.
    for (let cost = sum - base; cost >= 0; cost--) {
      for (const secrets of this.#secrets.at(cost)) {
        for (const secret of secrets) {
          const match = this.#tryBodies({ secret, frame, construct }, sum - base - cost, most, readings);
          if (match !== undefined || this.isStopped) return match;
        }
      }
    }
    return undefined;
  }

  /** Tries the bodies of this cost with one secret. A body and the secret may have at most `most` changes together. */
  #tryBodies(
    others: Omit<Combination, 'body'>,
    cost: number,
    most: number,
    readings: readonly Reading[],
  ): SuccessfulSearch | undefined {
    const left = most - others.secret.changes.length;
    if (left < Math.sign(cost)) return undefined;
    for (const bodies of this.#bodies.at(cost)) {
      for (const body of bodies) {
        const match = body.changes.length > left ? undefined : this.#try({ ...others, body }, readings);
        if (match !== undefined || this.isStopped) return match;
      }
    }
    return undefined;
  }

  #try(combination: Combination, readings: readonly Reading[]): SuccessfulSearch | undefined {
    const { secret, body, frame, construct } = combination;
    this.#hashed += BLOCK_BYTES + body.value.bytes.length;
    if (this.#hashed > BYTES_BETWEEN) [this.#hashed, this.isStopped] = [0, this.#deadline.isOver];
    if (this.isStopped) return undefined;
    this.tried++;
    const algorithm = readings[0]?.algorithm ?? 'sha1';
    const digestOf = construct?.digest ?? hmacOf;
    const digest = digestOf({
      algorithm,
      secret: secret.value,
      body: body.value.bytes,
      frame: frame?.frame ?? this.#rightFrame,
    });
    const reading = readings.find(({ matches }) => matches(digest));
    return reading && { kind: 'found', reading, changes: changesOf(combination, algorithm, this.#received) };
  }
}

function changesOf(
  { secret, body, frame, construct }: Combination,
  algorithm: HmacAlgorithm,
  received: KeptBody,
): readonly NamedChange[] {
  const isStringified = body.changes.length === 0 && body.value.body !== received;
  return [
    ...(construct ? [{ ...construct, would: construct.would(hashName(algorithm)) }] : []),
    ...(frame ? [frame] : []),
    ...secret.changes,
    ...(isStringified ? [STRINGIFIED] : body.changes.map((change) => ({ ...change, ...change.refined?.() }))),
  ];
}

/**
 * Reported if the sender signed the JSON-stringified body, not the bytes that it sent. The verification accepts that,
 * so the mistake is another one, such as a wrong secret.
 */
const STRINGIFIED = {
  code: 'pretty-printed',
  would: 'over the JSON-stringified body, which also counts',
  fix: 'Better sign the bytes as they are sent',
} as const;

/**
 * Returns the keys to try: the scheme's keys, also with changes, and other secrets. If the scheme decodes secrets from
 * base64, also tries secrets that were not decoded, and secrets that were changed before they were decoded.
 */
function secretVariants(evidence: SignatureEvidence): Variants<Secret> {
  const { scheme, secrets, keys } = evidence;
  const unused = secrets.filter((each) => !keys.includes(each));
  const replacements = (cost: Cost): readonly Changed<Secret>[] => {
    const texts = unused.flatMap((secret) => [
      ...(cost === 1 ? undecoded(secret, scheme) : []),
      ...secretChanges(secret, cost),
    ]);
    return [...texts, ...otherSecrets(evidence, cost)].flatMap((changed) => {
      const isDecoded = scheme.secret === 'base64' && typeof changed.value === 'string';
      const key = isDecoded ? schemeKey(scheme, changed.value) : undefined;
      return key === undefined ? [changed] : [changed, { ...changed, value: key }];
    });
  };
  return new Variants<Secret>({
    roots: keys,
    change: (secret, cost) => [secretChanges(secret, cost)],
    replace: replacements,
    keyOf: keyOfSecret,
    mostCost: MOST_COST.secret,
  });
}
