import type { ExplainContext, MismatchEvidence } from './evidence.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import type { NoteCode } from './reasons.ts';
import type { SignatureScheme } from './schemes/scheme.ts';

/** Checks the signature of one scheme over a body that arrives in pieces. */
export interface SignatureCheck {
  readonly scheme: SignatureScheme;
  /** The chunk may be reused by the caller afterwards. */
  update(chunk: Uint8Array): void;
  /** The match; undefined when there is none. A LossyMatch does not count. `body` is undefined when it was too large to keep, or nothing but its bytes counts. */
  match(body: KeptBody | undefined): SchemeMatch | LossyMatch | undefined;
  /** What a diagnosis of a mismatch looks at. The code that makes it is loaded only then. */
  evidence(known: ExplainContext): MismatchEvidence;
  /** The right value of the header with the signature, under the first secret; empty where none is. Shown to a sender, it would sign for a forger. */
  expected(body: KeptBody | undefined): string;
  /** The value of that header as it came. */
  readonly got: string;
}

export interface SchemeMatch {
  /** The secret that matched, counted from 1. */
  readonly secret: number;
  readonly over: 'bytes' | 'stringified';
  readonly note?: NoteCode;
  /** What the signature does not protect; only of a scheme that covers a part of the body. */
  readonly partial?: string;
}
