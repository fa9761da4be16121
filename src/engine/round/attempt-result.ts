import type { AttemptEvidence } from '../../attempt-record.ts';
import type { NetworkError } from '../../transport/transport.ts';

/**
 * The result of one POST, from which the engine decides everything else. `delivered`: the receiver has the message.
 * `retryable`: the URL may accept the message later. `rejected`: the URL will never accept it.
 */
export type AttemptResult =
  | (AttemptFacts & { readonly result: 'delivered'; readonly status: number })
  | (AttemptFacts & {
      readonly result: 'retryable';
      readonly status?: number;
      readonly error: AttemptError;
      /** The receiver's `Retry-After` in milliseconds from now. */
      readonly retryAfterMs?: number;
    })
  | (AttemptFacts & { readonly result: 'rejected'; readonly status?: number; readonly error: AttemptError });

interface AttemptFacts {
  /** When the attempt began. Milliseconds since the epoch. */
  readonly at: number;
  readonly ms: number;
  readonly detail?: string;
  readonly evidence?: AttemptEvidence;
  readonly reconnected?: true;
}

/** The `error` of a result line (cli.md): a network error, or the meaning of the status. */
export type AttemptError = NetworkError | 'redirect' | 'http-4xx' | 'http-5xx';
