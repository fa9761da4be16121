import type { Confidence } from '../confidence.ts';
import type { BodyDigests } from './body/body-digests.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import type { Deadline } from './deadline.ts';
import type { ReasonCode } from './reasons.ts';
import type { HeaderList } from './schemes/header-list.ts';
import type { HeaderProblem, PresentedSignature } from './schemes/presented-signature.ts';
import type { SignatureScheme } from './schemes/scheme.ts';

/** The explanation of a mismatch; `no-match` when no common mistake explains it. */
export interface Diagnosis {
  /** Code of the first change. */
  readonly code: ReasonCode;
  /** Codes of all changes that together reproduce the signature. */
  readonly codes: readonly ReasonCode[];
  readonly confidence: Confidence;
  /** The mistake and its fix, in sentences without secrets. */
  readonly hint: string;
  /** Whether not every change was tried, so that `hooks verify`, which has more time, may find the mistake. */
  readonly isCutShort?: true;
}

/** Explains why a signature does not match. A parameter of verification, which itself only collects the evidence. */
export type ExplainMismatch = (mismatch: MismatchEvidence) => Diagnosis;

/**
 * The facts from which a mismatch is explained, by its kind: the request has no signature, the signature matches only a body
 * that parsing changes, or it does not match.
 */
export type MismatchEvidence = NoEvidence | LossyMatch | SignatureEvidence;

export interface NoEvidence {
  readonly kind: 'none';
  readonly bytes: number;
  /** The schemes that the verification accepts. */
  readonly schemes: readonly SignatureScheme[];
}

/** Facts about a signature that was received and does not match. */
export interface SignatureEvidence extends ExplainContext {
  readonly kind: 'signature';
  readonly scheme: SignatureScheme;
  readonly presented: PresentedSignature;
  readonly headers: HeaderList;
  /** Digests of the body as received, one per key. */
  readonly digests: BodyDigests;
  readonly secrets: readonly string[];
  /** Keys made from `secrets`, in the order of the secrets. Secrets that the scheme cannot use are left out. */
  readonly keys: readonly (string | Uint8Array)[];
  readonly ageProblem: HeaderProblem | undefined;
  /** Whether the signature matches if its age is ignored. */
  readonly isRight: boolean;
}

/** The evidence of a mismatch that is common to all schemes. */
export interface ExplainContext {
  /** The whole body. Undefined if it was too large to keep; a diagnosis then finds only mistakes that the digests reveal. */
  readonly body: KeptBody | undefined;
  readonly otherSecrets: readonly OtherSecret[];
  /** Origin of the secrets, such as `HOOKS_SECRET`, to name in a diagnosis. Undefined if the caller did not pass it. */
  readonly secretOrigin: string | undefined;
  readonly deadline: Deadline;
  /** Whether a signature over the JSON-stringified body counts too. */
  readonly acceptsStringified: boolean;
  /** Method and path of the request, which some services sign. Undefined if only the body and headers are known. */
  readonly target?: RequestTarget | undefined;
}

/** The request line of a request: `POST` and `/hook?source=a`. */
export interface RequestTarget {
  readonly method: string;
  readonly path: string;
}

/** A known secret that is not accepted for the verification. */
export interface OtherSecret {
  readonly secret: string;
  /** Origin of the secret, such as `HOOKS_SECRET`. */
  readonly origin: string;
}

/** Makes the diagnosis `no-match`. `why` says why no mistake is known, `fix` says what to do next. */
export function undiagnosed(
  bytes: number,
  { why, fix }: { readonly why: string; readonly fix: string },
): Diagnosis {
  return { ...diagnosisOf('no-match', 'likely', mismatchText(bytes, why, fix)), isCutShort: true };
}

/** Makes a diagnosis with one code. */
export function diagnosisOf(code: ReasonCode, confidence: Confidence, hint: string): Diagnosis {
  return { code, codes: [code], confidence, hint };
}

/** The sentences of a diagnosis. `found` completes "Signature does not match: computed over 12 bytes; …". */
export function mismatchText(bytes: number, found: string, fix: string): string {
  const size = bytes === 1 ? '1 byte' : `${bytes} bytes`;
  return `Signature does not match: computed over ${size}; ${found}. ${fix}`;
}
