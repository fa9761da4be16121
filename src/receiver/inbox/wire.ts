import type { Forwarded } from '../forwarding.ts';
import type { Answered, MessageFacts, SignatureVerdict } from '../received-request.ts';

// What the inbox and its page say to each other, as JSON.

/** What the page has to know from the start. */
export interface Setup {
  /** Goes with every request of the page. */
  readonly token: string;
  /** Where webhooks are posted to. */
  readonly receiverUrl: string;
  /** Where they are passed on to, as it may be shown. */
  readonly forwardUrl?: string;
  readonly hasSecret: boolean;
}

/** One request as a line of the list. */
export interface RequestSummary extends MessageFacts {
  /** Counted from 1, in the order of arrival. */
  readonly id: number;
  /** Ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Secret parameters are masked. */
  readonly path: string;
  readonly verdict: SignatureVerdict;
  /** Null where no status was sent. */
  readonly status: number | null;
  readonly answered: Answered;
  readonly bytes: number;
  readonly ms: number;
}

/** What came since the last one, in order. */
export interface SummaryBatch {
  readonly requests: readonly RequestSummary[];
  /** Those before it were let go. */
  readonly firstId: number;
  /** Of the newest that there is; those up to it that are missing here follow at once. */
  readonly newestId: number;
}

/** All of one request but its body, whose exact bytes come by themselves. */
export interface Details {
  readonly summary: RequestSummary;
  /** Name and value, in order; secret values are masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly diagnosis?: { readonly code: string; readonly hint: string };
  readonly note?: string;
  /** Which secret matched, counted from 1. */
  readonly secret?: number;
  readonly forwarded?: Forwarded;
}

/** What a replay is asked with. Without a URL: to where requests are passed on. */
export interface ReplayBody {
  readonly url?: string;
}
