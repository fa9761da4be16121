import type { JsonValue } from '../message/types.ts';
import type { Forwarded } from '../receiver/response/forwarding.ts';
import type { MessageFacts } from '../receiver/messages/messages-of.ts';
import type { ResponseKind, SentResponse, SignatureVerdict } from '../receiver/received-request.ts';

// The JSON that the inbox and its page exchange.

/** Data that the page needs at its start. */
export interface Setup {
  /** Token that every request of the page must carry. */
  readonly token: string;
  /** URL that webhooks are posted to. */
  readonly receiverUrl: string;
  /** URL that webhooks are forwarded to, with secrets masked. */
  readonly forwardUrl?: string;
  readonly hasSecret: boolean;
  /** The words that start this program in a shell, such as `npx hooks`. */
  readonly programName: string;
  /** Signature scheme for `--scheme` in the example command of the page. Absent if the example needs no `--scheme`. */
  readonly sendBy?: string;
  /**
   * Whether the page was opened with the printed token. A page without it can only read, and replay to the forwarding URL.
   */
  readonly canAct: boolean;
  /** Whether an edited request can be signed: the page may act, and there is a secret. */
  readonly canSign: boolean;
}

/** Response header of a rejected action: the field of ReplayBody or EditedRequest that is wrong. Absent if none is. */
export const FIELD_HEADER = 'x-hooks-field';

/** A request in the list. */
export interface RequestSummary extends MessageFacts {
  /** Id of the request: its number in the order of arrival, from 1. */
  readonly id: number;
  /** Time of arrival, in ms since the epoch. */
  readonly at: number;
  readonly method: string;
  /** Path and query, with secret parameters masked. */
  readonly path: string;
  readonly verdict: SignatureVerdict;
  /** Status of the response. Null if no status was sent. */
  readonly status: number | null;
  readonly answered: ResponseKind;
  readonly bytes: number;
  readonly ms: number;
  /**
   * Whether the signature matches only the result of JSON.stringify(JSON.parse(body)): a receiver that verifies the bytes of
   * the body rejects the request.
   */
  readonly isRestringified?: boolean;
  /** Reason for which a tracking API rejects the call. Undefined if it accepts the call. */
  readonly problem?: string;
  /** Number of messages that violate the tracking plan. Undefined if none does. */
  readonly unplanned?: number;
  /** Number of messages in the request, if there are several. */
  readonly messages?: number;
  readonly among?: FactsAmong;
}

/** Types, events and users that occur in a request with several messages. */
export interface FactsAmong {
  readonly types: readonly string[];
  readonly events: readonly string[];
  /** User ids of the messages of a request; for messages without a user id, the anonymous ids. */
  readonly users: readonly string[];
}

/** The requests since the last event, in order, and the rest of the current state. */
export interface SummaryBatch {
  readonly requests: readonly RequestSummary[];
  /** Id of the oldest request. Earlier requests were evicted or cleared. */
  readonly firstId: number;
  readonly evicted: number;
  /** The current script of responses, in the format of `--respond`, such as `503x2,200`. Empty if there is none. */
  readonly respond: string;
  /** Id of the newest request. Requests up to this id that are missing in this batch follow in the next events at once. */
  readonly newestId: number;
}

/** A request without its body, whose exact bytes the page requests separately. */
export interface Details {
  readonly summary: RequestSummary;
  /** Headers in order, with secret values masked. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly diagnosis?: MismatchCause | undefined;
  /**
   * The signature that the receiver expected, if another one came (see `got`) and the page was opened with the printed
   * token.
   */
  readonly expected?: string;
  readonly got?: string;
  readonly note?: string | undefined;
  /** Warns that a valid signature lacks a part, or does not protect a part of the request. */
  readonly warning?: string | undefined;
  /** The signature scheme of a valid request. */
  readonly scheme?: string | undefined;
  /** Number, from 1, of the secret with which the signature is valid. */
  readonly secret?: number | undefined;
  /** The response that was sent, if any. */
  readonly response?: SentResponse | undefined;
  readonly forwarded?: Forwarded | undefined;
  /** Unpacked messages of a call of a tracking API. */
  readonly messages?: readonly JsonValue[] | undefined;
  /** Titles of the messages, in order, each with the reason if a tracking API rejects the message. Not escaped. */
  readonly messageTitles?: readonly string[] | undefined;
  readonly library?: string | undefined;
  /** Reason for which a tracking API rejects the call. Undefined if it accepts the call. */
  readonly problem?: string | undefined;
  /** Violations of the tracking plan as sentences. Those of several messages start with a label. Not escaped. */
  readonly violations?: readonly string[];
}

/** Why a signature does not match or is missing. */
export interface MismatchCause {
  readonly code: string;
  readonly hint: string;
  /** Whether the inbox can search longer for the cause. */
  readonly isCutShort?: true;
}

/** The body of a replay request. Without a URL, the replay goes to the forwarding URL. */
export interface ReplayBody {
  readonly url?: string;
  /** Headers and body to send instead of the received ones. */
  readonly edited?: EditedRequest;
}

export interface EditedRequest {
  /** Headers of an edited request. One with a masked value, if unchanged, stands for the received header. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
  /** Whether to sign the request with the secret of `listen`, instead of sending the received signature. */
  readonly isSigned: boolean;
}
