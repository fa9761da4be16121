import { hash } from 'node:crypto';
import { KeptBody, LARGEST_DIAGNOSED } from '../../signature/body/kept-body.ts';
import type { Deadline } from '../../signature/deadline.ts';
import type { SignatureEvidence } from '../../signature/evidence.ts';
import type { HmacAlgorithm, HmacFrame } from '../../signature/hmac.ts';
import { schemeKey } from '../../signature/schemes/secrets.ts';
import { bodyChangeLists, bodyReplacements, type BodyCandidate } from './body/body-changes.ts';
import { Variants, type SignatureChange, type Changed, type Cost, type Variant } from './change.ts';
import { CONSTRUCTS, HASH_NAMES, type Construct } from './constructs.ts';
import { FrameChanges, type FrameChange } from './frames.ts';
import { ManyHmacs } from './many-hmacs.ts';
import { otherSecrets } from './other-secrets.ts';
import type { Reading } from './readings/reading.ts';
import { keyOfSecret, secretChanges, type Secret } from './secret-changes.ts';

export type SearchResult =
  /** These changes reproduce the signature. */
  | { readonly kind: 'found'; readonly reading: Reading; readonly changes: readonly NamedChange[] }
  /** No combination reproduces the signature. `tried` counts them. */
  | { readonly kind: 'none'; readonly tried: number }
  /** The body is too large to try all changes of it. */
  | { readonly kind: 'too-large' }
  /** The time was up before all combinations were tried. */
  | { readonly kind: 'stopped'; readonly tried: number; readonly afterMs: number };

export type SuccessfulSearch = Extract<SearchResult, { kind: 'found' }>;
export type FailedSearch = Exclude<SearchResult, SuccessfulSearch>;

/** A change as a result of the search, without its cost and value. */
export type NamedChange = Pick<SignatureChange, 'code' | 'would' | 'fix'>;

/** Maximum sum of the costs of all changes together, and of the chained changes of one secret or body. */
const MOST_COST = { all: 4, secret: 3, body: 3 };
/** Maximum number of combined changes, by the sum of their costs: three of cost 1, but only two at the highest sum. */
const MOST_CHANGES = [0, 1, 2, 3, 2];

/** Searches for the smallest combination of changes to secret, body, frame and hash that reproduces the signature. */
export function searchChanges(
  evidence: SignatureEvidence & { readonly body: KeptBody },
  readings: readonly Reading[],
): SearchResult {
  const search = new ChangeSearch(evidence);
  for (let sum = 0; sum <= MOST_COST.all; sum++) {
    for (const [first, ...others] of groups(readings, sum)) {
      if (first === undefined) continue;
      const found = search.at(sum - first.cost, [first, ...others]);
      if (found !== undefined) return { kind: 'found', ...found };
      if (search.isStopped) {
        return { kind: 'stopped', tried: search.tried, afterMs: evidence.deadline.budgetMs };
      }
    }
  }
  const isLarge = evidence.body.bytes.length > LARGEST_DIAGNOSED;
  return isLarge ? { kind: 'too-large' } : { kind: 'none', tried: search.tried };
}

/** Groups the readings that are compared with the same digest, so that the digest is computed once. */
function groups(readings: readonly Reading[], sum: number): readonly (readonly Reading[])[] {
  const byDigest = new Map<string, Reading[]>();
  for (const reading of readings.filter(({ cost }) => cost <= sum)) {
    const key = `${reading.algorithm} ${reading.cost}`;
    byDigest.set(key, [...(byDigest.get(key) ?? []), reading]);
  }
  return [...byDigest.values()];
}

interface Match {
  readonly reading: Reading;
  readonly changes: readonly NamedChange[];
}

/** A wrong frame or a wrong construct of a digest, not both. Undefined stands for the right one. */
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
  /** Whether the deadline passed during the search. */
  isStopped = false;
  readonly #deadline: Deadline;
  readonly #received: KeptBody;
  readonly #rightFrame: HmacFrame;
  readonly #secrets: Variants<Secret>;
  readonly #bodies: Variants<BodyCandidate>;
  readonly #frames: FrameChanges;
  readonly #hmacs = new Map<HmacFrame, Map<HmacAlgorithm, ManyHmacs>>();

  constructor(evidence: SignatureEvidence & { readonly body: KeptBody }) {
    const { body, deadline, digests, scheme, presented } = evidence;
    const isStringifiedRight = evidence.acceptsStringified && body.json !== undefined;
    this.#deadline = deadline;
    this.#received = body;
    this.#rightFrame = digests.frame;
    this.#secrets = secretVariants(evidence);
    this.#bodies = new Variants<BodyCandidate>({
      roots: [
        { body, isContent: true },
        ...(isStringifiedRight
          ? [{ body: new KeptBody(Buffer.from(body.json ?? '')), isContent: false }]
          : []),
      ],
      change: (value, cost) => bodyChangeLists(value, cost, deadline),
      replace: bodyReplacements,
      keyOf: ({ body: { bytes } }) => hash('sha1', bytes, 'base64'),
      mostCost: body.bytes.length > LARGEST_DIAGNOSED ? 2 : MOST_COST.body,
    });
    this.#frames = new FrameChanges(scheme, evidence, presented.fields);
  }

  /** Tries all combinations whose costs have this sum, in plain loops: a generator takes as much time as a digest. */
  at(sum: number, readings: readonly Reading[]): Match | undefined {
    let match = this.#tryPairs(sum, {}, readings);
    for (const frame of this.#frames.upTo(sum)) match ??= this.#tryPairs(sum, { frame }, readings);
    for (const construct of CONSTRUCTS) match ??= this.#tryPairs(sum, { construct }, readings);
    return match;
  }

  /** Tries all pairs of a secret and a body with this structure, if the costs of the three have this sum. */
  #tryPairs(sum: number, { frame, construct }: Structure, readings: readonly Reading[]): Match | undefined {
    const base = frame?.cost ?? construct?.cost ?? 0;
    // At the highest cost, a frame or construct is tried alone, because there are many of them.
    if (this.isStopped || base > sum || (base > 0 && base < sum && sum === MOST_COST.all)) return undefined;
    const most = (MOST_CHANGES[sum] ?? 0) - Math.sign(base);
    for (let cost = 0; cost <= sum - base; cost++) {
      for (const secret of [...this.#secrets.at(cost)].flat()) {
        const left = most - secret.changes.length;
        for (const bodies of left < 0 ? [] : this.#bodies.at(sum - base - cost)) {
          const tried = bodies.filter(({ changes }) => changes.length <= left);
          const match = this.#tryAll(tried, { secret, frame, construct }, readings);
          if (match !== undefined || this.isStopped) return match;
        }
      }
    }
    return undefined;
  }

  #tryAll(
    bodies: readonly Variant<BodyCandidate>[],
    { secret, frame, construct }: Structure & { readonly secret: Variant<Secret> },
    readings: readonly Reading[],
  ): Match | undefined {
    const algorithm = readings[0]?.algorithm ?? 'sha1';
    const right = frame?.frame ?? this.#rightFrame;
    const hmacs = this.#hmacsOf(right, algorithm);
    for (const body of bodies) {
      this.isStopped ||= this.#deadline.isOver;
      if (this.isStopped) return undefined;
      this.tried++;
      const { bytes } = body.value.body;
      const digest =
        construct === undefined
          ? hmacs.digest(secret, body)
          : construct
              .digest({ algorithm, secret: secret.value, body: bytes, frame: right })
              .toString('latin1');
      const reading = readings.find(({ matches }) => matches(digest));
      if (reading === undefined) continue;
      return { reading, changes: changesOf({ secret, body, frame, construct }, algorithm, this.#received) };
    }
    return undefined;
  }

  #hmacsOf(frame: HmacFrame, algorithm: HmacAlgorithm): ManyHmacs {
    const known = this.#hmacs.get(frame) ?? new Map<HmacAlgorithm, ManyHmacs>();
    this.#hmacs.set(frame, known);
    const hmacs = known.get(algorithm) ?? new ManyHmacs(algorithm, frame);
    known.set(algorithm, hmacs);
    return hmacs;
  }
}

function changesOf(
  { secret, body, frame, construct }: Combination,
  algorithm: HmacAlgorithm,
  received: KeptBody,
): readonly NamedChange[] {
  const isStringified = body.changes.length === 0 && body.value.body !== received;
  const named = construct && { ...construct, would: construct.would(HASH_NAMES[algorithm]) };
  return [
    ...(named ? [named] : []),
    ...(frame ? [frame] : []),
    ...secret.changes,
    ...(isStringified ? [STRINGIFIED] : body.changes.map(namedChange)),
  ];
}

function namedChange(change: SignatureChange, index: number, all: readonly SignatureChange[]): NamedChange {
  const { would, last } = change;
  const words = index === all.length - 1 ? (last?.() ?? '') : '';
  return { ...change, would: would + words, ...change.refined?.() };
}

/**
 * The note on a match over the JSON-stringified body: the signature is valid for that text, although the bytes that were
 * sent differ.
 */
const STRINGIFIED = {
  code: 'pretty-printed',
  would: 'over the JSON-stringified body, which also counts',
  fix: 'Better sign the bytes as they are sent',
} as const;

/** Makes the variants of the keys. For a scheme that decodes its secret, adds the keys decoded from changed secrets. */
function secretVariants({ scheme, secrets, keys, otherSecrets: known }: SignatureEvidence): Variants<Secret> {
  const context = { secrets, otherSecrets: known, schemeName: scheme.name };
  function* replacements(cost: Cost): Generator<Changed<Secret>> {
    for (const secret of secrets.filter((each) => !keys.includes(each))) {
      if (cost === 1) yield { ...UNDECODED, value: secret };
      for (const changed of secretChanges(secret, cost)) {
        const key = typeof changed.value === 'string' ? schemeKey(scheme, changed.value) : undefined;
        const would = key === undefined ? changed.would.replace('the secret', WHOLE_SECRET) : changed.would;
        yield { ...changed, would, value: key ?? changed.value };
      }
    }
    for (const changed of otherSecrets(context, cost)) {
      yield changed;
      const key = typeof changed.value === 'string' ? schemeKey(scheme, changed.value) : undefined;
      if (key !== undefined) yield { ...changed, value: key };
    }
  }
  return new Variants<Secret>({
    roots: keys,
    change: (secret, cost) => [secretChanges(secret, cost)],
    replace: (cost) => [...replacements(cost)],
    keyOf: keyOfSecret,
    mostCost: MOST_COST.secret,
  });
}

const WHOLE_SECRET = 'the whole secret, its prefix too,';

const UNDECODED = {
  code: 'misread-secret',
  would: 'with the text of the secret as the key, which the scheme decodes from base64',
  fix: 'Decode what follows the prefix of the secret from base64, and key the HMAC with those bytes',
  cost: 1,
} as const;
