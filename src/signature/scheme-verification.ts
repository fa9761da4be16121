import { BodyDigests } from './body/body-digests.ts';
import { KeptBody, type FirstItem } from './body/kept-body.ts';
import type { ReasonCode } from './reasons.ts';
import { sameText } from './given-signature.ts';
import type { HeaderList } from './schemes/header-list.ts';
import { withFields, layoutOf } from './schemes/layout.ts';
import { ageProblem, type PresentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';
import { verifyingKeys } from './schemes/secrets.ts';
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

/** Verifies a signature exactly by the rules of its scheme. */
export function schemeVerification(
  scheme: SignatureScheme,
  presented: PresentedSignature,
  { secrets, schemes, headers, at, ignoreTimestamp }: SchemeVerificationOptions,
): SignatureVerification {
  const usable = verifyingKeys(scheme, secrets, schemes);
  const keys = usable.map(({ key }) => key);
  const { before, after } = layoutOf(scheme);
  const { fields } = presented;
  const frame = { before: withFields(before, fields), after: withFields(after, fields) };
  const received = new BodyDigests(scheme.hash, keys, frame);
  const tooOld = ignoreTimestamp ? undefined : ageProblem(scheme, presented, at);

  /** Returns the digests of the part of the body that the scheme covers. Undefined if the body has no such part. */
  const coveredPart = (bodyOf: () => KeptBody | undefined): CoveredBody | undefined => {
    if (scheme.covers !== 'first') return { digests: received };
    const item = bodyOf()?.firstItem;
    return (
      item && { digests: new BodyDigests(scheme.hash, keys, frame).update(Buffer.from(item.json)), item }
    );
  };
  const matchOf = (covered: CoveredBody | undefined): SchemeMatch | undefined => {
    if (presented.problem !== undefined || covered === undefined) return undefined;
    const secret = usable[indexOfMatch(covered.digests, scheme, presented)]?.secret;
    return secret === undefined ? undefined : { secret, ...overPart(covered.item) };
  };
  return {
    scheme,
    got: presented.value,
    update: (chunk) => void received.update(chunk),
    match(bodyOf) {
      const match = tooOld === undefined ? matchOf(coveredPart(bodyOf)) : undefined;
      return match?.over === 'stringified' ? (bodyOf()?.lossy ?? match) : match;
    },
    evidence(known) {
      const covered = coveredPart(() => known.body);
      return {
        kind: 'scheme',
        ...known,
        scheme,
        presented,
        ageProblem: tooOld,
        isRight: matchOf(covered) !== undefined,
        keys,
        secrets,
        headers,
        digests: covered?.digests ?? received,
        body: covered?.item === undefined ? known.body : new KeptBody(Buffer.from(covered.item.json)),
      };
    },
    expected: (body) => expectedHeader(scheme, presented, coveredPart(() => body)?.digests),
  };
}

function expectedHeader(
  scheme: SignatureScheme,
  { problem, fields }: PresentedSignature,
  digests: BodyDigests | undefined,
): string {
  const [digest] = digests?.all() ?? [];
  // Without the signed id or time, the expected signature cannot be computed.
  if (digest === undefined || (problem !== undefined && UNKNOWN_FIELDS.has(problem.code))) return '';
  const template = scheme.headers[layoutOf(scheme).signatureHeader.name] ?? '';
  return withFields(template, fields).replace('{signature}', digest.toString(scheme.encoding));
}

const UNKNOWN_FIELDS: ReadonlySet<ReasonCode> = new Set(['missing-header', 'malformed-header']);

interface CoveredBody {
  readonly digests: BodyDigests;
  /** The first item of a list, if the scheme covers only that item. */
  readonly item?: FirstItem;
}

/** Index of the first key with which the body has one of the received signatures. -1 if there is no such key. */
function indexOfMatch(
  digests: BodyDigests,
  { encoding }: SignatureScheme,
  { signatures }: PresentedSignature,
): number {
  const right = digests.all().map((digest) => digest.toString(encoding));
  return right.findIndex((text) => signatures.some((each) => sameText(each, text)));
}

function overPart(item: FirstItem | undefined): Pick<SchemeMatch, 'over' | 'partial'> {
  if (item === undefined) return { over: 'bytes' };
  const { count } = item;
  return {
    over: 'stringified',
    ...(count > 1 && { partial: `covers the first of ${count} events only` }),
  };
}
