/**
 * The evidence in a response. `headers` has only EVIDENCE_HEADERS, with lower-case names. All texts come from outside: they
 * have no secrets, but are not escaped.
 */
export interface ResponseEvidence {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
  /** Whether the request was signed. */
  readonly isSigned: boolean;
  /** Whether the request was signed by a scheme without `X-Signature`. */
  readonly isBySchemeWithout?: boolean | undefined;
}

/** The facts that the text for a cause may mention. They are few, because every attempt stores them. */
export interface CauseFacts {
  readonly status: number;
  /** The URL of the request, redacted. */
  readonly url: string;
  /** The `Server` header. */
  readonly server?: string | undefined;
  /** The target of a redirect, or the URL or protocol that was found instead. */
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
  /** The beginning of the body, from which the reason is quoted. */
  readonly body?: string | undefined;
}

/**
 * The scope of a cause. `way`: a system before the receiver rejects, whatever the message is. `busy`: the same, but
 * temporarily. `receiver`: the receiver itself, which names a reason. `status`: only the status is known, so that a caller
 * that knows more about the message can explain more.
 */
export type CauseKind = 'way' | 'busy' | 'receiver' | 'status';

/** Why the receiver responded so, and how to fix it. */
export interface ResponseCause {
  readonly code: string;
  readonly kind: CauseKind;
  /** A sentence without its full stop. */
  readonly says: string;
  /** Begins with a verb. */
  readonly fix: string;
}

/** A failure without a response. `cause`, if known, is more exact than `error`. */
export interface FailureEvidence {
  readonly error: string;
  readonly cause?: string | undefined;
}

/** Why there is no response. */
export interface NetworkCause {
  readonly code: string;
  /** Undefined if the text of the transport is enough. */
  readonly says: string | undefined;
  /** A fix for the sender. */
  readonly fix: string;
  /** A fix for the author of the receiver. */
  readonly receiverFix: string;
}
