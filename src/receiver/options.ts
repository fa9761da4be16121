import type { Clock } from '../clock.ts';
import type { ReceivedRequest } from './received-request.ts';
import type { Script } from './script.ts';

export interface ReceiverOptions {
  /** A name or address of this machine. @default '127.0.0.1' */
  readonly host?: string;
  /** 0 to 65,535; 0 takes a free one. @default 0 */
  readonly port?: number;
  /** Any of them verifies. Empty: signatures are not checked. */
  readonly secrets: readonly string[];
  /** What is answered to the POSTs that are let in. @default always 200 */
  readonly script?: Script;
  /** 401 to what does not verify; needs a secret. Such a request takes no step of the script. @default false */
  readonly requireSignature?: boolean;
  /** What is wrong with a body as a message, or undefined. Its sentence becomes `problem`. */
  readonly check?: (body: Uint8Array) => string | undefined;
  /** Called once a request, just before its answer is sent. Must not throw. */
  readonly onRequest: (request: ReceivedRequest) => void;
  /** Called for what never became a request. Must not throw. */
  readonly onRefused?: (refusal: Refusal) => void;
  readonly limits?: Partial<ReceiverLimits>;
  readonly clock?: Clock;
}

/** What came to the port and is not a request: too large, too slow, malformed, cut off, one connection too many. */
export interface Refusal {
  /** Ms since the epoch. */
  readonly at: number;
  /** Undefined where nobody was left, or allowed, to hear an answer. */
  readonly status: number | undefined;
  /** A part of a sentence, safe to show. */
  readonly reason: string;
}

export interface ReceiverLimits {
  /** A larger body is answered with 413. @default 10_485_760 (10 MiB) */
  readonly bodyBytes: number;
  /** From a connection's first byte to the end of the headers. Ms. @default 10_000 */
  readonly headersMs: number;
  /** From a connection's first byte to the end of the body. Ms. @default 30_000 */
  readonly requestMs: number;
  /** Connections at once; more are closed as they come. @default 4096 */
  readonly connections: number;
  /** Between the bytes of `slow-body`. Ms. @default 500 */
  readonly dripMs: number;
}

export const RECEIVER_LIMITS: ReceiverLimits = {
  bodyBytes: 10 * 1024 * 1024,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 4096,
  dripMs: 500,
};
