import type { BodyDigests } from './body/body-digests.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import type { Deadline } from './deadline.ts';
import type { GivenSignature } from './given-signature.ts';
import type { ReasonCode } from './reasons.ts';
import type { HeaderList } from './schemes/header-list.ts';
import type { HeaderProblem, PresentedSignature } from './schemes/presented.ts';
import type { SignatureScheme } from './schemes/scheme.ts';

/** The explanation of a mismatch; `no-match` when no common mistake explains it. */
export interface Diagnosis {
  readonly code: ReasonCode;
  /** What was found and how to fix it, in sentences without secrets. */
  readonly hint: string;
}

/** Finds out why a signature does not match. Verification returns facts only, so its caller passes this function in. */
export type ExplainMismatch = (mismatch: MismatchEvidence) => Diagnosis;

/** The facts about a mismatch: no signature came, it matches a body that loses something, or it does not match by the lenient rules or by its scheme. */
export type MismatchEvidence = NoEvidence | LossyMatch | LenientEvidence | SchemeEvidence;

export interface NoEvidence {
  readonly kind: 'none';
  readonly bytes: number;
  /** The schemes that are accepted. */
  readonly schemes: readonly SignatureScheme[];
}

/** The facts of every signature that came and does not match. */
interface SignatureEvidence extends ExplainContext {
  readonly scheme: SignatureScheme;
  readonly headers: HeaderList;
  /** The digests of the body as received. */
  readonly digests: BodyDigests;
  readonly secrets: readonly string[];
  /** The keys that the secrets stand for, in their order; a secret that cannot be a key has none. */
  readonly keys: readonly (string | Uint8Array)[];
}

export interface LenientEvidence extends SignatureEvidence {
  readonly kind: 'lenient';
  readonly given: GivenSignature;
}

export interface SchemeEvidence extends SignatureEvidence {
  readonly kind: 'scheme';
  readonly presented: PresentedSignature;
  readonly ageProblem: HeaderProblem | undefined;
  /** The signature matches, whatever its age is. */
  readonly isRight: boolean;
}

/** What the caller adds to the facts of a check. */
export interface ExplainContext {
  /** Undefined when the body was too large to keep: then only mistakes that one pass over the body reveals are tried. */
  readonly body: KeptBody | undefined;
  readonly otherSecrets: readonly OtherSecret[];
  /** Where the secrets are from; undefined when the caller does not say. */
  readonly secretOrigin: string | undefined;
  readonly deadline: Deadline;
}

/** A known secret that is not among the secrets to verify with. */
export interface OtherSecret {
  readonly secret: string;
  /** Where the secret comes from, such as `HOOKS_SECRET`. */
  readonly origin: string;
}

/** Makes the diagnosis of a mismatch for which no mistake was tried. */
export function undiagnosed(
  bytes: number,
  { why, fix }: { readonly why: string; readonly fix: string },
): Diagnosis {
  return { code: 'no-match', hint: mismatchText(bytes, why, fix) };
}

/** The sentences of a diagnosis. `found` follows "computed over N bytes; ". */
export function mismatchText(bytes: number, found: string, fix: string): string {
  const size = bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `Signature does not match: computed over ${size}; ${found}. ${fix}`;
}
