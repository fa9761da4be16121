import type { AttemptRecord } from '../attempt-record.ts';
import { Problems, type OptionKind } from '../validate-options.ts';
import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { redactUrl } from '../redact.ts';
import { requestTarget } from '../url.ts';
import type { Transport } from '../transport/transport.ts';

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
  if (!/^[!-9;-~]+$/.test(writeKey)) {
    throw new ConfigError('Expected `writeKey` to be visible ASCII without a colon', {
      key: 'writeKey',
      hint: 'look for a space, a line break or a quote that was copied with it',
    });
  }
  return `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}`;
}

/** The options that a program gives. */
export const SINK_KINDS = {
  endpoint: 'a string',
  writeKey: 'a non-empty string',
  timeoutMs: { least: 1, most: 30_000 },
  retryForMs: { least: 0, most: 2 ** 31 - 1 },
  maxInFlight: { least: 1, most: 1_024 },
  onRetry: 'a function',
} as const satisfies Partial<Record<keyof TrackingApiSinkOptions, OptionKind>>;

/** Throws ConfigError for an endpoint and a write key that cannot be used. Values that are no text are left to the check of the kinds. */
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
