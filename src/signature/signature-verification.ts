import type { ExplainContext, MismatchEvidence } from './evidence.ts';
import type { KeptBody, LossyMatch } from './body/kept-body.ts';
import type { NoteCode } from './reasons.ts';
import type { SignatureScheme } from './schemes/scheme.ts';

/** Verifies the signature of one scheme over a body in chunks. */
export interface SignatureVerification {
  readonly scheme: SignatureScheme;
  /** Adds a chunk of the body, which the caller can reuse afterwards. */
  update(chunk: Uint8Array): void;
  /**
   * Returns the match of the signature. Undefined if there is none. A LossyMatch does not make a signature valid. `bodyOf`
   * joins the chunks of the body, so it is called only if the bytes alone do not decide. It returns undefined if the body was
   * too large to keep, or if the scheme compares only the bytes.
   */
  match(bodyOf: () => KeptBody | undefined): SchemeMatch | LossyMatch | undefined;
  /** The evidence from which a mismatch is explained. */
  evidence(known: ExplainContext): MismatchEvidence;
  /**
   * The right value of the signature header, made with the first secret. Empty if unknown. Never show it to a sender, who
   * could forge requests with it.
   */
  expected(body: KeptBody | undefined): string;
  /** The value of the signature header as received. */
  readonly got: string;
}

export interface SchemeMatch {
  /** Number of the secret that matched, from 1. */
  readonly secret: number;
  /** The signed bytes: the body as received, or JSON-stringified. */
  readonly over: 'bytes' | 'stringified';
  /** Why the bytes differ from the JSON-stringified form. Undefined if `over` is `bytes`. */
  readonly note?: NoteCode;
  /** Says what the signature does not protect: `covers the first of 3 events only`. Treat the rest as unsigned. */
  readonly partial?: string;
}
