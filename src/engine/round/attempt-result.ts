import type { AttemptEvidence } from '../../attempt-record.ts';
import type { NetworkError } from '../../transport/transport.ts';

/**
 * What one POST came to. Everything the engine decides is a function over this value.
 * `delivered`: the receiver has it. `retryable`: the same URL may take it later. `rejected`: that URL never will.
 */
export type AttemptResult =
  | (AttemptFacts & { readonly result: 'delivered'; readonly status: number })
  | (AttemptFacts & {
      readonly result: 'retryable';
      readonly status?: number;
      readonly error: AttemptError;
      /** The receiver's `Retry-After`, as ms from now. */
      readonly retryAfterMs?: number;
    })
  | (AttemptFacts & { readonly result: 'rejected'; readonly status?: number; readonly error: AttemptError });

interface AttemptFacts {
  /** When it began. Ms since the epoch. */
  readonly at: number;
  readonly ms: number;
  readonly detail?: string;
  readonly evidence?: AttemptEvidence;
  readonly reconnected?: true;
}

/** The `error` of a result line (cli.md): a network error, or what the status said. */
export type AttemptError = NetworkError | 'redirect' | 'http-4xx' | 'http-5xx';
