import type { AttemptRecord } from '../attempt-record.ts';
import { Problems, type OptionKind } from '../validate-options.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { redactUrl } from '../redact.ts';
import { requestTarget } from '../url.ts';
import type { Transport } from '../transport/transport.ts';

export interface TrackingApiSinkOptions {
  /** The URL to post batches to: http or https, without userinfo. A URL without a path gets the path `/v1/batch`. */
  readonly endpoint: string;
  /** User name for Basic authentication: visible ASCII without a colon. */
  readonly writeKey: string;
  /** This package's version, for `User-Agent` and `context.library`. */
  readonly version: string;
  /** Timeout of one attempt, from name lookup to status line. Ms, 1 to 30,000. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /**
   * Time limit for the attempts of a batch, from the first one; 0 means one attempt. After `close()`, the time for which the
   * endpoint may fail before all remaining batches are given up, at least `timeoutMs`. Ms, 0 to 2^31-1. @default 10 attempts
   * per batch, and about two minutes after close()
   */
  readonly retryForMs?: number | undefined;
  /** Maximum number of batches in flight at once. If above 1, batches can arrive out of order. 1 to 1,024. @default 1 */
  readonly maxInFlight?: number | undefined;
  /** Transport for the requests. The sink closes it. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** Returns a random number from 0 to 1 for the jitter of waits, like Math.random. */
  readonly random: () => number;
  /** Signal that ends attempts and waits. Messages that are not accepted when it aborts are rejected as `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called before each wait for a retry. An error that it throws is an uncaught exception; the batch is retried anyway. */
  readonly onRetry?: ((retry: BatchRetry) => void) | undefined;
}

/** A failed attempt that will be followed by another. */
export interface BatchRetry {
  readonly attempt: AttemptRecord;
  /** Number of attempts so far to send the batch, including this one. */
  readonly attempts: number;
  readonly reason: string;
  /** Time until the next attempt to send the batch. Ms. */
  readonly waitMs: number;
  /** Number of messages in the batch. */
  readonly messages: number;
}

export const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_PATH = '/v1/batch';

/**
 * Returns the URL to post batches to. Adds `/v1/batch` if `endpoint` has no path. Throws ConfigError if `endpoint` is not a
 * usable http or https URL.
 */
export function batchUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined) {
    throw endpointError('to be a URL', endpoint, 'write it in full, such as https://host/v1/batch');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw endpointError('to begin with http:// or https://', endpoint);
  }
  if (url.username !== '' || url.password !== '') {
    throw endpointError(
      'without a user or password',
      endpoint,
      'the write key is sent for you: give it as `writeKey`',
    );
  }
  if (url.hash !== '') throw endpointError('without a fragment', endpoint, 'remove what follows the #');
  return url.origin + requestTarget(endpoint).replace(/^\/(?=\?|$)/, DEFAULT_PATH);
}

/**
 * Returns the `Authorization` header: Basic authentication with the write key as the user and no password. Throws
 * ConfigError unless the key is visible ASCII without a colon.
 */
export function authorization(writeKey: string): string {
  if (!/^[!-9;-~]+$/.test(writeKey)) {
    throw new ConfigError('Expected `writeKey` to be visible ASCII without a colon', {
      key: 'writeKey',
      hint: 'look for a space, a line break or a quote that was copied with it',
    });
  }
  return `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
}

/** The kinds of the options for a tracking API that a user of the library can set. */
export const SINK_KINDS = {
  endpoint: 'a string',
  writeKey: 'a non-empty string',
  timeoutMs: { least: 1, most: 30_000 },
  retryForMs: { least: 0, most: 2 ** 31 - 1 },
  maxInFlight: { least: 1, most: 1_024 },
  onRetry: 'a function',
} as const satisfies Partial<Record<keyof TrackingApiSinkOptions, OptionKind>>;

/**
 * Throws ConfigError if the endpoint or the write key is unusable. Skips a value that is not a string, because
 * `validateOptions` reports its kind.
 */
export function validateAccess({
  endpoint,
  writeKey,
}: Pick<TrackingApiSinkOptions, 'endpoint' | 'writeKey'>): void {
  const problems = new Problems();
  if (typeof endpoint === 'string') problems.collect(() => batchUrl(endpoint));
  if (typeof writeKey === 'string' && writeKey !== '') problems.collect(() => authorization(writeKey));
  problems.throwIfAny('options');
}

function endpointError(expected: string, endpoint: string, hint?: string): ConfigError {
  return new ConfigError(`Expected \`endpoint\` ${expected}, got ${redactUrl(endpoint)}`, {
    key: 'endpoint',
    hint,
  });
}
