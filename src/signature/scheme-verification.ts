import { BodyDigests } from './body/body-digests.ts';
import { KeptBody, type FirstItem, type LossyMatch } from './body/kept-body.ts';
import type { ExplainContext, SignatureEvidence } from './evidence.ts';
import { lenientDigest, matchOverStringified, sameDigest, sameText } from './lenient-signature.ts';
import type { ReasonCode } from './reasons.ts';
import type { HeaderList } from './schemes/header-list.ts';
import { withFields, layoutOf } from './schemes/layout.ts';
import { ageProblem, type HeaderProblem, type PresentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import { verifyingKeys, type SchemeKey } from './schemes/secrets.ts';
import type { SchemeMatch, SignatureVerification } from './signature-verification.ts';

export interface SchemeVerificationOptions {
  readonly secrets: readonly string[];
  /** All schemes that the verification accepts. */
  readonly schemes: readonly SignatureScheme[];
  readonly headers: HeaderList;
  /** Time when the request arrived, in ms since the epoch, with which its timestamp is compared. */
  readonly at: number;
  readonly ignoreTimestamp: boolean;
}

/** Verifies a signature by the rules of its scheme, over the part of the body that the scheme covers. */
export class SchemeVerification implements SignatureVerification {
  readonly scheme: SignatureScheme;
  readonly #presented: PresentedSignature;
  readonly #options: SchemeVerificationOptions;
  readonly #usable: readonly SchemeKey[];
  readonly #received: BodyDigests;
  readonly #tooOld: HeaderProblem | undefined;

  constructor(scheme: SignatureScheme, presented: PresentedSignature, options: SchemeVerificationOptions) {
    const { secrets, schemes, at, ignoreTimestamp } = options;
    this.scheme = scheme;
    this.#presented = presented;
    this.#options = options;
    this.#usable = verifyingKeys(scheme, secrets, schemes);
    this.#received = this.#newDigests();
    this.#tooOld = ignoreTimestamp ? undefined : ageProblem(scheme, presented, at);
  }

  get got(): string {
    return this.#presented.value;
  }

  update(chunk: Uint8Array): void {
    this.#received.update(chunk);
  }

  match(bodyOf: () => KeptBody | undefined): SchemeMatch | LossyMatch | undefined {
    if (this.#tooOld !== undefined) return undefined;
    const match = this.#matchIgnoringAge(bodyOf);
    if (match?.over === 'stringified') return bodyOf()?.lossy ?? match;
    if (match !== undefined || this.scheme.isLenient !== true) return match;
    return matchOverStringified(bodyOf(), lenientDigest(this.got), this.#options.secrets);
  }

  evidence(known: ExplainContext): SignatureEvidence {
    const covered = this.#covered(() => known.body);
    return {
      kind: 'signature',
      ...known,
      scheme: this.scheme,
      presented: this.#presented,
      ageProblem: this.#tooOld,
      isRight: this.#matchIgnoringAge(() => known.body) !== undefined,
      keys: this.#usable.map(({ key }) => key),
      secrets: this.#options.secrets,
      headers: this.#options.headers,
      digests: covered?.digests ?? this.#received,
      body: covered?.item === undefined ? known.body : new KeptBody(Buffer.from(covered.item.json)),
    };
  }

  expected(body: KeptBody | undefined): string {
    const [digest] = this.#covered(() => body)?.digests.all() ?? [];
    const { problem, fields } = this.#presented;
    // Without the signed id or time, the expected signature cannot be computed.
    if (digest === undefined || (problem !== undefined && UNKNOWN_FIELDS.has(problem.code))) return '';
    const template = this.scheme.headers[layoutOf(this.scheme).signatureHeader.name] ?? '';
    return withFields(template, fields).replace('{signature}', digest.toString(this.scheme.encoding));
  }

  #matchIgnoringAge(bodyOf: () => KeptBody | undefined): SchemeMatch | undefined {
    const covered = this.#presented.problem === undefined ? this.#covered(bodyOf) : undefined;
    const secret = covered && this.#usable[this.#indexOfMatch(covered.digests)]?.secret;
    return secret === undefined ? undefined : { secret, ...overPart(covered?.item) };
  }

  /** Index of the first key with which the body has one of the received signatures. -1 if there is no such key. */
  #indexOfMatch(digests: BodyDigests): number {
    if (this.scheme.isLenient === true) {
      const given = lenientDigest(this.got);
      return given === undefined ? -1 : digests.all().findIndex((digest) => sameDigest(digest, given));
    }
    const right = digests.all().map((digest) => digest.toString(this.scheme.encoding));
    return right.findIndex((text) => this.#presented.signatures.some((each) => sameText(each, text)));
  }

  /** The digests of the part of the body that the scheme covers. Undefined if the body has no such part. */
  #covered(bodyOf: () => KeptBody | undefined): CoveredBody | undefined {
    if (this.scheme.covers !== 'first') return { digests: this.#received };
    const item = bodyOf()?.firstItem;
    return item && { digests: this.#newDigests().update(Buffer.from(item.json)), item };
  }

  #newDigests(): BodyDigests {
    const { before, after } = layoutOf(this.scheme);
    const { fields } = this.#presented;
    const frame = { before: withFields(before, fields), after: withFields(after, fields) };
    const keys = this.#usable.map(({ key }) => key);
    return new BodyDigests(this.scheme.hash, keys, frame);
  }
}

const UNKNOWN_FIELDS: ReadonlySet<ReasonCode> = new Set(['missing-header', 'malformed-header']);

interface CoveredBody {
  readonly digests: BodyDigests;
  /** The first item of a list, if the scheme covers only that item. */
  readonly item?: FirstItem;
}

function overPart(item: FirstItem | undefined): Pick<SchemeMatch, 'over' | 'partial'> {
  if (item === undefined) return { over: 'bytes' };
  const { count } = item;
  return {
    over: 'stringified',
    ...(count > 1 && { partial: `covers the first of ${count} events only` }),
  };
}
