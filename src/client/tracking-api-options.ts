import type { AttemptRecord } from '../attempt-record.ts';
import { Problems } from '../validate-options.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { redactUrl } from '../redact.ts';
import { requestTarget } from '../url.ts';
import type { Transport } from '../transport/transport.ts';
import { validateInteger } from './options.ts';

export interface TrackingApiSinkOptions {
  /** Where batches are posted: http or https, without userinfo; `/v1/batch` when it has no path. */
  readonly endpoint: string;
  /** The Basic auth user. Visible ASCII without a colon. */
  readonly writeKey: string;
  /** This package's version, as `User-Agent` and `context.library` name it. */
  readonly version: string;
  /** For one attempt, name lookup to status line. Ms, 1 to 30,000. @default 5000 */
  readonly timeoutMs?: number | undefined;
  /**
   * How long a batch is tried, from its first attempt; 0 means once. Once the sink is being closed, how long an endpoint
   * may fail until all that is left is given up, at least `timeoutMs`. Ms, 0 to 2^31-1. @default until 10 attempts are
   * made, and about two minutes from close()
   */
  readonly retryForMs?: number | undefined;
  /** Batches in flight at once. More than 1 gives up their order. 1 to 1,024. @default 1 */
  readonly maxInFlight?: number | undefined;
  /** Closed with the sink. */
  readonly transport: Transport;
  readonly clock: Clock;
  /** From 0 to 1, as Math.random. */
  readonly random: () => number;
  /** Ends attempts and waits; what is not accepted by then is rejected as `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** What it throws is an uncaught exception, and keeps no batch from being tried again. */
  readonly onRetry?: ((retry: BatchRetry) => void) | undefined;
}

/** A failed attempt that another one follows. */
export interface BatchRetry {
  readonly attempt: AttemptRecord;
  /** Attempts so far, this one included. */
  readonly attempts: number;
  readonly reason: string;
  readonly waitMs: number;
  readonly messages: number;
}

export const DEFAULT_TIMEOUT_MS = 5_000;
const DEFAULT_PATH = '/v1/batch';

/** The URL that batches are posted to: http or https, `/v1/batch` when it has no path. Throws ConfigError. */
export function batchUrl(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined) {
    throw endpointError('to be a URL', endpoint, 'write it in full, as https://host/v1/batch');
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

/** Basic auth: the write key as the user, no password. */
export function authorization(writeKey: string): string {
  if (typeof writeKey !== 'string' || writeKey === '') {
    throw new ConfigError('Expected `writeKey` to be a non-empty string', {
      key: 'writeKey',
      hint: 'give the write key of the source, as the tracking API shows it',
    });
  }
  if (!/^[!-9;-~]+$/.test(writeKey)) {
    throw new ConfigError('Expected `writeKey` to be visible ASCII without a colon', {
      key: 'writeKey',
      hint: 'look for a space, a line break or a quote that was copied with it',
    });
  }
  return `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
}

type ValidSinkOptions = Pick<
  TrackingApiSinkOptions,
  'endpoint' | 'writeKey' | 'timeoutMs' | 'retryForMs' | 'maxInFlight'
>;

/** Throws ConfigError for what is wrong with the options, all at once. An endpoint that is no text is left to the caller's check. */
export function validateSinkOptions(options: ValidSinkOptions): void {
  const { endpoint, writeKey, timeoutMs, retryForMs, maxInFlight } = options;
  const problems = new Problems();
  if (typeof endpoint === 'string') problems.collect(() => batchUrl(endpoint));
  problems.collect(() => authorization(writeKey));
  problems.collect(() => validateInteger('timeoutMs', timeoutMs, [1, 30_000]));
  problems.collect(() => validateInteger('retryForMs', retryForMs, [0, 2 ** 31 - 1]));
  problems.collect(() => validateInteger('maxInFlight', maxInFlight, [1, 1_024]));
  problems.throwIfAny('options');
}

function endpointError(expected: string, endpoint: string, hint?: string): ConfigError {
  return new ConfigError(`Expected \`endpoint\` ${expected}, got ${redactUrl(endpoint)}`, {
    key: 'endpoint',
    hint,
  });
}
