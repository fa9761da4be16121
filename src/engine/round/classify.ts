import type { Clock } from '../../clock.ts';
import { NETWORK_ERRORS, type TransportResponse, type TransportResult } from '../../transport/transport.ts';
import { serverOf, type ResponseEvidence } from '../../transport/cause.ts';
import type { AttemptEvidence } from '../../attempt-record.ts';
import type { AttemptResult } from './attempt-result.ts';
import { retryAfterMs } from '../../transport/retry-after.ts';

/** Maximum number of characters of a response body to store without causes: few, because every attempt stores them. */
const DETAIL_LENGTH = 300;
/** Maximum number of characters to store of the headers `Server` and `Retry-After`. */
const SERVER_LENGTH = 60;

/** Explains failed responses for the record of an attempt. */
export interface ResponseCauses {
  /** Returns a code for the cause of a response other than 2xx, such as the proxy or the framework that sent it. */
  readonly causeCodeOf: (response: ResponseEvidence) => string;
  /** Returns the receiver's own message in a body, at most 300 characters of it. */
  readonly quotationOf: (body: string) => string;
}

interface ClassifyContext {
  /** When the attempt began. Milliseconds since the epoch. */
  readonly at: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Whether the engine added an `Idempotency-Key` to the request. */
  readonly sendsKey: boolean;
  /** Whether the request was signed. @default true */
  readonly isSigned?: boolean;
  /** Functions that explain a response; needed only for a failed one. @default no cause is stored */
  readonly causes?: ResponseCauses | undefined;
}

/** Determines what the response to an attempt, or its absence, means for the delivery. */
export function classify(result: TransportResult, context: ClassifyContext): AttemptResult {
  const meaning = meaningOf(result, context);
  const outcome = meaning.result === 'delivered' ? meaning : { ...meaning, ...evidenceOf(result, context) };
  return result.reconnected ? { ...outcome, reconnected: true } : outcome;
}

/** Functions for an engine that does not explain failures: the body is stored as received, and no cause is stored. */
const NO_CAUSES: ResponseCauses = {
  causeCodeOf: () => '',
  quotationOf: (body) => body.slice(0, DETAIL_LENGTH),
};

/** Whether the receiver responded with a status other than 2xx. */
export function isFailedResponse(result: TransportResult): boolean {
  return result.kind === 'response' && (result.status < 200 || result.status > 299);
}

function meaningOf(result: TransportResult, context: ClassifyContext): AttemptResult {
  const { kind, ms } = result;
  const { at } = context;
  switch (kind) {
    case 'failure': {
      const { error, detail, cause } = result;
      // A blocked address counts as temporary, because the operator can allow it within the retry window.
      const isTemporary = NETWORK_ERRORS[error] !== 'lasting';
      const isRetryable = isTemporary && !PERMANENT_CAUSES.has(cause ?? '');
      return { at, ms, result: isRetryable ? 'retryable' : 'rejected', error, detail };
    }
    case 'response': {
      const { status } = result;
      if (!isFailedResponse(result)) return { at, ms, result: 'delivered', status };
      return { at, ms, ...failedResponse(result, context) };
    }
    default:
      return kind satisfies never;
  }
}

/** Causes that no retry removes: a proxy wants a password, or a server wants a client certificate. */
const PERMANENT_CAUSES: ReadonlySet<string> = new Set(['proxy-authentication', 'client-certificate']);

/** Temporary statuses: Request Timeout, Locked, Too Early, Too Many Requests. */
const TEMPORARY_4XX: ReadonlySet<number> = new Set([408, 423, 425, 429]);

type FailedResponse = Pick<Extract<AttemptResult, { result: 'retryable' | 'rejected' }>, 'error' | 'detail'> &
  ({ result: 'retryable'; status: number; retryAfterMs?: number } | { result: 'rejected'; status: number });

/**
 * A 409 counts as temporary if the engine sent an `Idempotency-Key`: a receiver that supports it responds 409 while it still
 * processes the first request with the key.
 */
const CONFLICT = 409;

function failedResponse(
  response: TransportResponse,
  { clock, sendsKey, causes = NO_CAUSES }: ClassifyContext,
): FailedResponse {
  const { status, retryAfter, body } = response;
  const common = {
    status,
    ...(body !== undefined && body !== '' && { detail: causes.quotationOf(body) }),
  };
  if (status >= 300 && status <= 399) return { ...common, result: 'rejected', error: 'redirect' };
  const isClientError = status >= 400 && status <= 499;
  const isTemporary4xx = TEMPORARY_4XX.has(status) || (status === CONFLICT && sendsKey);
  if (isClientError && !isTemporary4xx) return { ...common, result: 'rejected', error: 'http-4xx' };
  // A status that is not a final HTTP status (RFC 9110, 15) is as malformed as a response that cannot be parsed.
  if (status < 400 || status > 599) {
    return { status, result: 'retryable', error: 'protocol', detail: `no HTTP status: ${status}` };
  }
  const waitMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, clock.now());
  return {
    ...common,
    result: 'retryable',
    error: isClientError ? 'http-4xx' : 'http-5xx',
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
}

/** Returns the evidence that later explains the failure of an attempt. Empty for a success. */
function evidenceOf(
  result: TransportResult,
  { isSigned = true, causes = NO_CAUSES }: ClassifyContext,
): { readonly evidence?: AttemptEvidence } {
  if (result.kind === 'failure') {
    const { cause } = result;
    return cause === undefined ? {} : { evidence: { cause } };
  }
  const { status, headers = {}, body = '' } = result;
  if (status < 300 || status > 599) return {};
  const cause = causes.causeCodeOf({ status, headers, body, isSigned });
  const { location, 'retry-after': retryAfter } = headers;
  const server = serverOf(headers);
  const evidence: AttemptEvidence = {
    // Stores the cause only if the status alone does not imply it.
    ...(cause !== causes.causeCodeOf({ status, headers: {}, body: '', isSigned: true }) && { cause }),
    ...(server !== undefined && { server: server.slice(0, SERVER_LENGTH) }),
    ...(location !== undefined && status < 400 && { location }),
    ...(retryAfter !== undefined && { retryAfter: retryAfter.slice(0, SERVER_LENGTH) }),
  };
  return Object.keys(evidence).length === 0 ? {} : { evidence };
}
