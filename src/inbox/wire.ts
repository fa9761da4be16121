import type { JsonValue } from '../message/types.ts';
import type { Forwarded } from '../receiver/response/forwarding.ts';
import type { MessageFacts } from '../receiver/messages/messages-of.ts';
import type { ResponseKind, SentResponse, SignatureVerdict } from '../receiver/received-request.ts';

// The JSON that the inbox and its page exchange.

/** The facts that the page needs at its start. */
export interface Setup {
  /** Goes with every request of the page. */
  readonly token: string;
  /** Where webhooks are posted to. */
  readonly receiverUrl: string;
  /** Where they are passed on to, as it may be shown. */
  readonly forwardUrl?: string;
  readonly hasSecret: boolean;
  /** The signature scheme that a sender names; absent where none needs to be. */
  readonly sendBy?: string;
  /** Whether the page was opened with the printed token, and may do more than read and replay to the forwarding URL. */
  readonly canAct: boolean;
  /** Whether an edited request can be signed: the page may act, and there is a secret. */
  readonly canSign: boolean;
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
  readonly answered: ResponseKind;
  readonly bytes: number;
  readonly ms: number;
  /** Valid only over the JSON-stringified body: a receiver that checks the bytes rejects it. */
  readonly isRestringified?: boolean;
  /** Why a tracking API rejects the call. */
  readonly problem?: string;
  /** The number of its messages, where there are several. */
  readonly messages?: number;
  readonly among?: FactsAmong;
}

/** What is known of several messages of one request, each fact once. */
export interface FactsAmong {
  readonly types: readonly string[];
  readonly events: readonly string[];
  /** User ids, or anonymous ids where there is none. */
  readonly users: readonly string[];
}

/** The requests since the last batch, in order, and what else changed. */
export interface SummaryBatch {
  readonly requests: readonly RequestSummary[];
  /** The id of the oldest request; earlier ones were evicted or cleared. */
  readonly firstId: number;
  readonly evicted: number;
  /** The script that requests are responded to by, as `--respond` takes it; empty: none. */
  readonly respond: string;
  /** The id of the newest request; those up to it that are missing here follow at once. */
  readonly newestId: number;
}

/** All of one request but its body, whose exact bytes come by themselves. */
export interface Details {
  readonly summary: RequestSummary;
  /** Name and value, in order; secret values are masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly diagnosis?: { readonly code: string; readonly hint: string };
  /** The right signature, and the one that came: of a mismatch, on a page that was opened with the printed token. */
  readonly expected?: string;
  readonly got?: string;
  readonly note?: string;
  /** What a valid request lacks, or what its signature does not protect. */
  readonly warning?: string;
  /** The signature schemes that it was checked by, of a valid one. */
  readonly scheme?: string;
  /** Which secret matched, counted from 1. */
  readonly secret?: number;
  /** What it was responded with; absent where nothing was sent. */
  readonly response?: SentResponse;
  readonly forwarded?: Forwarded;
  /** Of a call of a tracking API: its messages, unpacked. */
  readonly messages?: readonly JsonValue[];
  /** What each of them is, and why a tracking API rejects it. Unescaped. */
  readonly messageTitles?: readonly string[];
  readonly library?: string;
  /** Why a tracking API rejects the call. */
  readonly problem?: string;
}

/** The body of a replay request. Without a URL, the replay goes to the forwarding URL. */
export interface ReplayBody {
  readonly url?: string;
  /** What is sent in place of the headers and the body that came. */
  readonly edited?: EditedRequest;
}

export interface EditedRequest {
  /** A header as it was shown stands for the one that came, whose value may have been masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Whether it is signed with the secret of `listen`, in place of the signature that came. */
  readonly isSigned: boolean;
}

/** The body of an export request: the ids of the requests. */
export interface ExportBody {
  readonly ids: readonly number[];
}

/** The body of a request to respond by another script. */
export interface RespondBody {
  readonly respond: string;
}
