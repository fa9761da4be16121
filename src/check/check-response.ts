import { redactUrl } from '../redact.ts';
import {
  serverOf,
  type CauseFacts,
  type FailureEvidence,
  type NetworkCause,
  type ResponseCause,
  type ResponseEvidence,
} from '../transport/cause.ts';
import type { NetworkError, TransportResult } from '../transport/transport.ts';

/**
 * A receiver's response, classified by its effect on a sender (contract, Delivery). `taken`: 2xx. `rejected`: a final 4xx.
 * `failing`: a 5xx, or a 4xx that asks to wait; the sender repeats the message for hours. `redirect`: 3xx, never followed.
 * `none`: no response.
 */
export type CheckResponse =
  | {
      readonly kind: 'taken' | 'rejected' | 'failing' | 'redirect';
      readonly status: number;
      /** Start of the body, without secrets, unescaped. */
      readonly reply: string | undefined;
      /** The program that responded, as its headers name it. */
      readonly server?: string | undefined;
      /** Cause of the response; undefined for a 2xx whose body does not name a failure. */
      readonly cause?: ResponseCause | undefined;
      readonly ms: number;
    }
  | {
      readonly kind: 'none';
      readonly error: NetworkError;
      readonly detail: string;
      /** Whether a connection broke on this request before a new one failed. */
      readonly reconnected?: boolean;
      readonly cause?: NetworkCause | undefined;
      readonly ms: number;
    };

export type CheckResponseKind = CheckResponse['kind'];

/** 4xx statuses after which a sender tries again, because the receiver is too busy or was asked too early. */
const PASSING_4XX: ReadonlySet<number> = new Set([408, 423, 425, 429]);

/** Functions that find the cause of a response or of a network error. */
export interface CheckCauses {
  /** Returns the cause of a response. Undefined for a 2xx whose body does not name a failure. */
  readonly responseCauseOf: (response: ResponseEvidence, facts: CauseFacts) => ResponseCause | undefined;
  readonly networkCauseOf: (
    failure: FailureEvidence,
    facts: Omit<CauseFacts, 'status'>,
  ) => NetworkCause | undefined;
  /** Returns the error in what the receiver printed while it handled a request. Undefined if it printed none. */
  readonly printedCauseOf: (printed: string, facts: CauseFacts) => ResponseCause | undefined;
}

interface AskedRequest {
  readonly url: string;
  readonly isSigned: boolean;
  readonly causes: CheckCauses;
}

export function checkResponseOf(
  result: TransportResult,
  { url, isSigned, causes }: AskedRequest,
): CheckResponse {
  const { ms } = result;
  const shownUrl = redactUrl(url);
  if (result.kind === 'failure') {
    const { error, detail, reconnected } = result;
    return {
      kind: 'none',
      error,
      detail,
      reconnected,
      cause: causes.networkCauseOf(result, { url: shownUrl }),
      ms,
    };
  }
  const { status, headers = {}, body: reply, retryAfter } = result;
  const server = serverOf(headers);
  const cause = causes.responseCauseOf(
    { status, headers, body: reply ?? '', isSigned },
    { status, url: shownUrl, server, location: headers['location'], retryAfter },
  );
  return { kind: responseKindOf(status), status, reply, server, cause, ms };
}

function responseKindOf(status: number): Exclude<CheckResponseKind, 'none'> {
  if (status >= 200 && status <= 299) return 'taken';
  if (status >= 300 && status <= 399) return 'redirect';
  return status >= 400 && status <= 499 && !PASSING_4XX.has(status) ? 'rejected' : 'failing';
}
