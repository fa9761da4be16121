import { redactUrl, printable, withoutRepeated } from '../redact.ts';
import { NETWORK_ERRORS, type TransportResponse, type TransportResult } from '../transport/transport.ts';

/** The result of one POST of a batch, which alone decides what the sink does next. */
export type BatchResult =
  /** The tracking API accepted every message except those in `rejected`. */
  | { readonly result: 'accepted'; readonly status: number; readonly rejected: readonly RejectedMessage[] }
  | ({ readonly result: 'retryable'; readonly retryAfter?: string } & BatchRejection)
  /** The body exceeds the limit of the tracking API (413): the sink sends two smaller batches. */
  | ({ readonly result: 'too-large' } & BatchRejection)
  | ({ readonly result: 'rejected' } & BatchRejection);

export interface BatchRejection {
  readonly status?: number;
  /** Stable code of the failure of a batch: `timeout refused … redirect http-4xx http-5xx`. */
  readonly code: string;
  /** Why the batch was rejected: one line for people. */
  readonly reason: string;
}

export interface RejectedMessage {
  readonly index: number;
  readonly code: string;
  readonly reason: string;
}

/** The parts of a batch request that its response may repeat, and that must not be shown. */
export interface SentBatch {
  readonly url: string;
  /** Secrets to mask in the texts of a 2xx response; the transport has masked them in all others. */
  readonly secrets: readonly string[];
}

export function batchResult(result: TransportResult, sent: SentBatch): BatchResult {
  const { url } = sent;
  if (result.kind === 'response') return responseResult(result, sent);
  const { error, detail } = result;
  const reason = `${printable(detail)} (${redactUrl(url)})`;
  const isRetryable = NETWORK_ERRORS[error] === 'passing';
  return { result: isRetryable ? 'retryable' : 'rejected', code: error, reason };
}

function responseResult(response: TransportResponse, sent: SentBatch): BatchResult {
  const { status, retryAfter, body = '' } = response;
  if (status >= 200 && status < 300) return successResult(status, body, sent);
  const { url } = sent;
  const rejection = { status, code: codeOf(status), reason: reasonOf(status, body, url) };
  if (status === 413) return { result: 'too-large', ...rejection };
  if (status === 408 || status === 429 || status >= 500) {
    return { result: 'retryable', ...rejection, ...(retryAfter !== undefined && { retryAfter }) };
  }
  return { result: 'rejected', ...rejection };
}

/**
 * Returns the result of a 2xx. The body may list rejected messages: `{"rejected":[{index,code,message}]}`. With any other
 * body (empty, `OK`, `{"success":true}`), all messages are accepted.
 */
function successResult(status: number, body: string, sent: SentBatch): BatchResult {
  if (!body.includes('"rejected"')) return { result: 'accepted', status, rejected: [] };
  const rejected = rejectedIn(body, sent);
  if (rejected !== undefined) return { result: 'accepted', status, rejected };
  // Rejects all messages of the batch, because it is unknown which of them were accepted. If the caller sends all again, the
  // messageId identifies duplicates; if all counted as accepted, the rejected ones would be lost.
  return {
    result: 'rejected',
    status,
    code: 'protocol',
    reason: 'The response lists rejected messages, but the list cannot be parsed',
  };
}

function rejectedIn(body: string, sent: SentBatch): readonly RejectedMessage[] | undefined {
  try {
    const { rejected } = JSON.parse(body) as { readonly rejected?: unknown }; // any JSON that is not an object has no such field, null throws
    if (!Array.isArray(rejected)) return undefined;
    return rejected.map((entry) => rejectedMessage(entry, sent));
  } catch {
    return undefined;
  }
}

function rejectedMessage(entry: unknown, sent: SentBatch): RejectedMessage {
  // A cast without check: the tracking API may send any shape, and each field is checked before it is used.
  const { index, code, message } = entry as Record<'index' | 'code' | 'message', unknown>;
  if (!Number.isInteger(index)) throw new TypeError('no index');
  return {
    index: Number(index),
    code: typeof code === 'string' ? printable(withoutRepeated(code, sent.secrets), 100) : 'invalid',
    reason:
      typeof message === 'string'
        ? printable(withoutRepeated(message, sent.secrets))
        : 'rejected by the tracking API',
  };
}

function codeOf(status: number): string {
  if (status >= 500) return 'http-5xx';
  return status >= 400 ? 'http-4xx' : 'redirect';
}

function reasonOf(status: number, body: string, url: string): string {
  const detail = body.trim() === '' ? '' : `: ${printable(body.trim(), 300)}`;
  return `${status} from ${redactUrl(url)}${detail}`;
}
