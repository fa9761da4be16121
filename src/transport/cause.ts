/**
 * What is known of a response. `headers` by lower-case names: only those that tell where a response comes from
 * (transport/evidence-headers.ts). All text is from outside, without secrets, unescaped.
 */
export interface ResponseEvidence {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The beginning of the body. */
  readonly body: string;
  /** Whether the request had a signature. */
  readonly isSigned: boolean;
  /** Whether a scheme signed it that has no `X-Signature`. */
  readonly isBySchemeWithout?: boolean | undefined;
}

/** What the words for a cause may name. It is little, since each attempt keeps it. */
export interface CauseFacts {
  readonly status: number;
  /** The URL of the request, redacted. */
  readonly url: string;
  /** The `Server` header. */
  readonly server?: string | undefined;
  /** Where a redirect leads, or the other URL or protocol that was found there. */
  readonly location?: string | undefined;
  readonly retryAfter?: string | undefined;
  /** The body of the response, or its beginning, of which the reason is quoted. */
  readonly body?: string | undefined;
}

/**
 * How far a cause reaches. `way`: something in front of the receiver refuses, whatever the message says. `busy`: likewise, for now.
 * `receiver`: the receiver itself, in words that name the reason. `status`: little is known but the status, so that a caller that knows what is
 * special about the message knows more.
 */
export type CauseKind = 'way' | 'busy' | 'receiver' | 'status';

/** Why a response is what it is, and how to fix it. */
export interface ResponseCause {
  readonly code: string;
  readonly kind: CauseKind;
  /** A sentence without its full stop. */
  readonly says: string;
  /** Begins with a verb. */
  readonly fix: string;
}

/** A failure without a response. `cause` is more exact than `error`, where it is known. */
export interface FailureEvidence {
  readonly error: string;
  readonly cause?: string | undefined;
}

/** Why there is no response. */
export interface NetworkCause {
  readonly code: string;
  /** Undefined where the words of the transport say it all. */
  readonly says: string | undefined;
  /** What a sender can do. */
  readonly fix: string;
  /** What the author of the receiver can do. */
  readonly receiverFix: string;
}
