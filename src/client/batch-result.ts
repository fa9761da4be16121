import { redactUrl, printable, withoutRepeated } from '../redact.ts';
import type { NetworkError, TransportResponse, TransportResult } from '../transport/transport.ts';

/** The result of one POST of a batch. Everything that the sink does next is a function over this value. */
export type BatchResult =
  /** `rejected` are the messages that the tracking API named as not taken. */
  | { readonly result: 'accepted'; readonly status: number; readonly rejected: readonly RejectedMessage[] }
  | ({ readonly result: 'retryable'; readonly retryAfter?: string } & BatchRejection)
  /** Over the size that the tracking API takes: smaller batches may pass. */
  | ({ readonly result: 'too-large' } & BatchRejection)
  | ({ readonly result: 'rejected' } & BatchRejection);

export interface BatchRejection {
  readonly status?: number;
  /** Stable: `timeout refused … redirect http-4xx http-5xx`. */
  readonly code: string;
  /** For people, on one line. */
  readonly reason: string;
}

export interface RejectedMessage {
  readonly index: number;
  readonly code: string;
  readonly reason: string;
}

const IS_RETRYABLE: Readonly<Record<NetworkError, boolean>> = {
  timeout: true,
  refused: true,
  dns: true,
  reset: true,
  protocol: true,
  'tls-self-signed': false,
  'tls-expired': false,
  'tls-hostname': false,
  'tls-untrusted': false,
  tls: false,
  'blocked-address': false,
  aborted: false,
};

/** What a response may repeat. */
export interface SentBatch {
  readonly url: string;
  /** Masked in the texts that a success may hold; the transport masks them in any other response. */
  readonly secrets: readonly string[];
}

export function batchResult(result: TransportResult, sent: SentBatch): BatchResult {
  const { url } = sent;
  if (result.kind === 'response') return ofResponse(result, sent);
  const { error, detail } = result;
  const reason = `${printable(detail)} (${redactUrl(url)})`;
  return { result: IS_RETRYABLE[error] ? 'retryable' : 'rejected', code: error, reason };
}

function ofResponse(response: TransportResponse, sent: SentBatch): BatchResult {
  const { status, retryAfter, body = '' } = response;
  if (status >= 200 && status < 300) return ofSuccess(status, body, sent);
  const { url } = sent;
  const rejection = { status, code: codeOf(status), reason: reasonOf(status, body, url) };
  if (status === 413) return { result: 'too-large', ...rejection };
  if (status === 408 || status === 429 || status >= 500) {
    return { result: 'retryable', ...rejection, ...(retryAfter !== undefined && { retryAfter }) };
  }
  return { result: 'rejected', ...rejection };
}

/**
 * A success may name messages that were not taken: `{"rejected":[{index,code,message}]}`. Any other response (empty,
 * `OK`, `{"success":true}`) takes all of them.
 */
function ofSuccess(status: number, body: string, sent: SentBatch): BatchResult {
  if (!body.includes('"rejected"')) return { result: 'accepted', status, rejected: [] };
  const rejected = rejectedIn(body, sent);
  if (rejected !== undefined) return { result: 'accepted', status, rejected };
  // Which were taken is unknown. Sent again they are recognized by their messageId; counted as accepted they would be lost.
  return {
    result: 'rejected',
    status,
    code: 'protocol',
    reason: 'The response names messages that were not taken, but cannot be read',
  };
}

function rejectedIn(body: string, sent: SentBatch): readonly RejectedMessage[] | undefined {
  try {
    const { rejected } = JSON.parse(body) as { readonly rejected?: unknown }; // any JSON that is not an object has no such field, null throws
    if (!Array.isArray(rejected)) return undefined;
    return rejected.map((entry) => asRejected(entry, sent));
  } catch {
    return undefined;
  }
}

function asRejected(entry: unknown, sent: SentBatch): RejectedMessage {
  // The shape is the tracking API's word; each field is checked before it is used.
  const { index, code, message } = entry as Record<'index' | 'code' | 'message', unknown>;
  if (!Number.isInteger(index)) throw new TypeError('no index');
  return {
    index: Number(index),
    code: typeof code === 'string' ? printable(withoutRepeated(code, sent.secrets), 100) : 'invalid',
    reason:
      typeof message === 'string'
        ? printable(withoutRepeated(message, sent.secrets))
        : 'refused by the tracking API',
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
