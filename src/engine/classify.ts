import type { NetworkError, TransportResponse, TransportResult } from '../transport/transport.ts';
import type { AttemptResult } from './attempt-result.ts';
import { retryAfterMs } from '../transport/retry-after.ts';

/** Of a receiver's reply. Every attempt is kept, so it must stay small. */
const DETAIL_LENGTH = 200;

/** What the response, or its absence, means for the delivery (contract, Delivery). `at` is when the attempt began. */
export function classify(result: TransportResult, { at, now }: { at: number; now: number }): AttemptResult {
  const outcome = meaningOf(result, { at, now });
  return result.reconnected ? { ...outcome, reconnected: true } : outcome;
}

function meaningOf(result: TransportResult, { at, now }: { at: number; now: number }): AttemptResult {
  const { kind, ms } = result;
  switch (kind) {
    case 'failure': {
      const { error, detail } = result;
      return { at, ms, result: isTemporary(error) ? 'retryable' : 'rejected', error, detail };
    }
    case 'response': {
      const { status } = result;
      if (status >= 200 && status <= 299) return { at, ms, result: 'delivered', status };
      return { at, ms, ...failedResponse(result, now) };
    }
    default:
      return kind satisfies never;
  }
}

/** Whether the same URL may do better later. A certificate is rarely fixed within a retry window. */
function isTemporary(error: NetworkError): boolean {
  switch (error) {
    case 'timeout':
    case 'refused':
    case 'dns':
    case 'reset':
    case 'protocol':
    case 'aborted':
      return true;
    case 'tls-self-signed':
    case 'tls-expired':
    case 'tls-hostname':
    case 'tls-untrusted':
    case 'tls':
    case 'blocked-address':
      return false;
    default:
      return error satisfies never;
  }
}

/** Too busy or too early, not wrong: Request Timeout, Locked, Too Early, Too Many Requests. */
const TEMPORARY_4XX: ReadonlySet<number> = new Set([408, 423, 425, 429]);

type FailedResponse = Pick<Extract<AttemptResult, { result: 'retryable' | 'rejected' }>, 'error' | 'detail'> &
  ({ result: 'retryable'; status: number; retryAfterMs?: number } | { result: 'rejected'; status: number });

function failedResponse(response: TransportResponse, now: number): FailedResponse {
  const { status, retryAfter, reply } = response;
  const common = {
    status,
    ...(reply !== undefined && reply !== '' && { detail: reply.slice(0, DETAIL_LENGTH) }),
  };
  if (status >= 300 && status <= 399) return { ...common, result: 'rejected', error: 'redirect' };
  const isClientError = status >= 400 && status <= 499;
  if (isClientError && !TEMPORARY_4XX.has(status))
    return { ...common, result: 'rejected', error: 'http-4xx' };
  // Not a final status of HTTP at all (RFC 9110, 15): as malformed as an answer that cannot be parsed.
  if (status < 400 || status > 599) {
    return { status, result: 'retryable', error: 'protocol', detail: `no HTTP status: ${status}` };
  }
  const waitMs = retryAfter === undefined ? undefined : retryAfterMs(retryAfter, now);
  return {
    ...common,
    result: 'retryable',
    error: isClientError ? 'http-4xx' : 'http-5xx',
    ...(waitMs !== undefined && { retryAfterMs: waitMs }),
  };
}
