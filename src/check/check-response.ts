import type { NetworkError, TransportResult } from '../transport/transport.ts';

/**
 * A receiver's response by what it makes a sender do (contract, Delivery). `taken`: 2xx. `refused`: a final 4xx. `failing`: 5xx and the
 * 4xx that ask to wait, after which the message is sent again for hours. `redirect`: 3xx, never followed. `none`: no response.
 */
export type CheckResponse =
  | {
      readonly kind: 'taken' | 'refused' | 'failing' | 'redirect';
      readonly status: number;
      /** The beginning of the body, without secrets, unescaped. */
      readonly reply: string | undefined;
      readonly ms: number;
    }
  | { readonly kind: 'none'; readonly error: NetworkError; readonly detail: string; readonly ms: number };

export type CheckResponseKind = CheckResponse['kind'];

/** The 4xx statuses of a receiver that is too busy or asked too early. */
const PASSING_4XX: ReadonlySet<number> = new Set([408, 423, 425, 429]);

export function checkResponseOf(result: TransportResult): CheckResponse {
  const { ms } = result;
  if (result.kind === 'failure') return { kind: 'none', error: result.error, detail: result.detail, ms };
  const { status, reply } = result;
  return { kind: responseKindOf(status), status, reply, ms };
}

function responseKindOf(status: number): Exclude<CheckResponseKind, 'none'> {
  if (status >= 200 && status <= 299) return 'taken';
  if (status >= 300 && status <= 399) return 'redirect';
  return status >= 400 && status <= 499 && !PASSING_4XX.has(status) ? 'refused' : 'failing';
}
