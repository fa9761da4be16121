import type { NetworkError, TransportResult } from '../transport/transport.ts';

/**
 * What a receiver's answer makes a sender do (contract, Delivery). `taken`: 2xx. `refused`: a 4xx that is final. `failing`: 5xx and the
 * 4xx that only ask to wait, which are sent again for hours. `redirect`: 3xx, never followed. `none`: no answer.
 */
export type CheckResponse =
  | {
      readonly kind: 'taken' | 'refused' | 'failing' | 'redirect';
      readonly status: number;
      /** What it said, without secrets, unescaped. */
      readonly reply: string | undefined;
      readonly ms: number;
    }
  | { readonly kind: 'none'; readonly error: NetworkError; readonly detail: string; readonly ms: number };

export type CheckResponseKind = CheckResponse['kind'];

/** Too busy or too early, not wrong. */
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
