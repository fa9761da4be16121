/** One POST as it is kept and shown. Exactly one of `status` and `error`, or both for a 3xx, 4xx or 5xx. */
export interface AttemptRecord extends AttemptEvidence {
  /** When it began. Ms since the epoch. */
  readonly at: number;
  /** Redacted: no userinfo. */
  readonly url: string;
  /** Which round over a destination's webhooks it belongs to, from 1. */
  readonly round: number;
  readonly result: 'delivered' | 'retryable' | 'rejected';
  readonly status?: number;
  /** A stable code of cli.md: `timeout refused … http-5xx`. */
  readonly error?: string;
  /** The text of the response or of the network error, shortened, unescaped. */
  readonly detail?: string;
  /** To the status line. */
  readonly ms: number;
  /** Whether it was sent again on a fresh connection, since an idle one had died. */
  readonly reconnected?: true;
  /** The ids of its `traceparent`, where one was sent: 32 and 16 hex digits. */
  readonly traceId?: string;
  readonly spanId?: string;
}

/** What tells why an attempt failed: little, since every attempt is kept. From outside, without secrets, unescaped. */
export interface AttemptEvidence {
  /** A code that `diagnosis/` puts into words; absent where the status or error says it all. */
  readonly cause?: string;
  /** The `Server` header of the response. */
  readonly server?: string;
  /** Where a redirect leads, or where the receiver was found instead. */
  readonly location?: string;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
}
