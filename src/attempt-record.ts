/** The lasting record of one POST. Has `status` for a 2xx, `error` without a response, and both for a 3xx, 4xx or 5xx. */
export interface AttemptRecord extends AttemptEvidence {
  /** Start of the attempt, in ms since the epoch. */
  readonly at: number;
  /** The URL without secrets. */
  readonly url: string;
  /** Position of the webhook in its destination, from 1: the same webhook after its URL is corrected. @default 1 */
  readonly webhook?: number;
  /** Number, from 1, of the round over the webhooks of the destination in which this attempt was made. */
  readonly round: number;
  readonly result: 'delivered' | 'retryable' | 'rejected';
  readonly status?: number;
  /** Stable code of the error, as listed in cli.md: `timeout refused … http-5xx`. */
  readonly error?: string;
  /** The text of the response or of the network error, shortened, not escaped. */
  readonly detail?: string;
  /** Time to the status line of the response, in ms. */
  readonly ms: number;
  /** Whether the request was repeated on a new connection, because the idle connection had died. */
  readonly reconnected?: true;
  /** The trace id and span id of the sent `traceparent`: 32 and 16 hex digits. */
  readonly traceId?: string;
  readonly spanId?: string;
}

/** Evidence of why an attempt failed: small, because every attempt is kept. Untrusted text without secrets, not escaped. */
export interface AttemptEvidence {
  /** Code of the cause, which `diagnosis/` explains. Undefined if `status` or `error` explain enough. */
  readonly cause?: string;
  /** The `Server` header of the response, else Via or X-Powered-By. */
  readonly server?: string;
  /** The target of a redirect, or another address at which the receiver was found. */
  readonly location?: string;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
  /** The variable that names the proxy. Only set by examining the proxy. */
  readonly proxy?: string;
  /** Results of probes, by name. Only set by examining the failure. */
  readonly shown?: Readonly<Record<string, string>>;
}
