import { BodyDigests } from './body/body-digests.ts';
import type { ExplainContext, SchemeEvidence } from './evidence.ts';
import { KeptBody, type FirstItem, type LossyMatch } from './body/kept-body.ts';
import type { ReasonCode } from './reasons.ts';
import { sameText } from './given-signature.ts';
import type { HeaderList } from './schemes/header-list.ts';
import { withFields, layoutOf } from './schemes/layout.ts';
import { ageProblem, type PresentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import { verifyingKeys, type SchemeKey } from './schemes/secrets.ts';
import type { SchemeMatch, SignatureVerification } from './signature-verification.ts';

interface SchemeVerificationOptions {
  readonly secrets: readonly string[];
  /** All accepted schemes. */
  readonly schemes: readonly SignatureScheme[];
  readonly headers: HeaderList;
  /** Time when the request arrived, in ms since the epoch, with which its timestamp is compared. */
  readonly at: number;
  readonly ignoreTimestamp: boolean;
}

/** Verifies a signature exactly by the rules of its scheme. */
export class SchemeVerification implements SignatureVerification {
  readonly scheme: SignatureScheme;
  readonly got: string;
  readonly #presented: PresentedSignature;
  readonly #options: SchemeVerificationOptions;
  readonly #keys: readonly SchemeKey[];
  readonly #digests: BodyDigests;

  constructor(scheme: SignatureScheme, presented: PresentedSignature, options: SchemeVerificationOptions) {
    this.scheme = scheme;
    this.got = presented.value;
    this.#presented = presented;
    this.#options = options;
    this.#keys = verifyingKeys(scheme, options.secrets, options.schemes);
    const { before, after } = layoutOf(scheme);
    const frame = {
      before: withFields(before, presented.fields),
      after: withFields(after, presented.fields),
    };
    this.#digests = new BodyDigests(
      scheme.hash,
      this.#keys.map(({ key }) => key),
      frame,
    );
  }

  update(chunk: Uint8Array): void {
    this.#digests.update(chunk);
  }

  expected(body: KeptBody | undefined): string {
    const { problem } = this.#presented;
    // The expected signature cannot be computed if the signed id or time is missing.
    if (problem !== undefined && UNKNOWN_FIELDS.has(problem.code)) return '';
    const { headers, encoding } = this.scheme;
    const [digest] = this.#covered(body)?.digests.all() ?? [];
    if (digest === undefined) return '';
    const template = headers[layoutOf(this.scheme).signatureHeader.name] ?? '';
    return withFields(template, this.#presented.fields).replace('{signature}', digest.toString(encoding));
  }

  match(body: KeptBody | undefined): SchemeMatch | LossyMatch | undefined {
    const { at, ignoreTimestamp } = this.#options;
    if (this.#presented.problem !== undefined) return undefined;
    if (!ignoreTimestamp && ageProblem(this.scheme, this.#presented, at) !== undefined) return undefined;
    const match = this.#matchOf(this.#covered(body));
    return match?.over === 'stringified' ? (body?.lossy ?? match) : match;
  }

  evidence(known: ExplainContext): SchemeEvidence {
    const { headers, secrets, at, ignoreTimestamp } = this.#options;
    const covered = this.#covered(known.body);
    const item = covered?.item;
    return {
      kind: 'scheme',
      scheme: this.scheme,
      presented: this.#presented,
      ageProblem: ignoreTimestamp ? undefined : ageProblem(this.scheme, this.#presented, at),
      isRight: this.#presented.problem === undefined && this.#matchOf(covered) !== undefined,
      keys: this.#keys.map(({ key }) => key),
      secrets,
      headers,
      ...known,
      digests: covered?.digests ?? this.#digests,
      body: item === undefined ? known.body : new KeptBody(Buffer.from(item.json)),
    };
  }

  /** Digests of the part of the body that the scheme covers; undefined if the body has no such part. */
  #covered(body: KeptBody | undefined): CoveredBody | undefined {
    if (this.scheme.covers !== 'first') return { digests: this.#digests };
    const item = body?.firstItem;
    if (item === undefined) return undefined;
    const { algorithm, frame } = this.#digests;
    const keys = this.#keys.map(({ key }) => key);
    return { digests: new BodyDigests(algorithm, keys, frame).update(Buffer.from(item.json)), item };
  }

  #matchOf(covered: CoveredBody | undefined): SchemeMatch | undefined {
    const { signatures } = this.#presented;
    const index = (covered?.digests.all() ?? []).findIndex((digest) =>
      includesText(signatures, digest.toString(this.scheme.encoding)),
    );
    const secret = this.#keys[index]?.secret;
    if (secret === undefined) return undefined;
    return covered?.item === undefined
      ? { secret, over: 'bytes' }
      : { secret, over: 'stringified', ...partialOf(covered.item) };
  }
}

const UNKNOWN_FIELDS: ReadonlySet<ReasonCode> = new Set(['missing-header', 'malformed-header']);

interface CoveredBody {
  readonly digests: BodyDigests;
  /** Present if the scheme covers only the first item of a list. */
  readonly item?: FirstItem;
}

function includesText(signatures: readonly string[], right: string): boolean {
  return signatures.some((each) => sameText(each, right));
}

function partialOf({ count }: FirstItem): { readonly partial?: string } {
  return count === 1 ? {} : { partial: `covers the first of ${count} events only` };
}
