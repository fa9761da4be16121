import { validateOptions, type OptionKind } from '../validate-options.ts';
import { systemClock } from '../clock.ts';
import { explainMismatch } from '../diagnosis/explain.ts';
import { formatDuration } from '../duration.ts';
import { isJsonObject } from '../message/types.ts';
import { matchMessages, type ArrivedMessage } from '../expectation/expectation.ts';
import type { ConnectionRejection } from '../receiver/options.ts';
import { isAccepted, messagesOf, rejectedReason, unreadReason } from '../receiver/messages/messages-of.ts';
import { wholeMessage, type ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import { shownWriteKey } from '../redact.ts';
import type { ReceivedRequest, SignatureVerdict } from '../receiver/received-request.ts';
import { Receiver } from '../receiver/receiver.ts';
import { parseScript } from '../receiver/response/script.ts';
import type { SchemeChoice } from '../signature/schemes/find-schemes.ts';
import { explainMessages } from './explain-messages.ts';
import { readMatcher, type MessageMatcher, type SentMessage } from './message-matcher.ts';

export interface TestReceiverOptions {
  /** The port; 0 selects a free port. @default 0 */
  readonly port?: number | undefined;
  /** Value of `receiver.writeKey`, for a client library. The receiver accepts any write key. @default 'test-write-key' */
  readonly writeKey?: string | undefined;
  /** The responses in the syntax of `hooks listen --respond`, such as `503x2,200`. @default 200 */
  readonly respond?: string | undefined;
  /** The secret to verify signatures with; `requests()` has the verdicts. @default signatures are not verified */
  readonly secret?: string | undefined;
  /** Signature scheme to verify requests by. @default 'segment' */
  readonly scheme?: SchemeChoice | undefined;
}

const KINDS = {
  port: { least: 0, most: 65_535 },
  writeKey: 'a string',
  respond: 'a string',
  secret: 'a string',
  scheme: 'given',
} as const satisfies Record<keyof TestReceiverOptions, OptionKind>;

export interface WaitOptions {
  /** Number of messages to wait for. @default 1 */
  readonly count?: number | undefined;
  /** Maximum time to wait, in ms. @default 5_000 */
  readonly withinMs?: number | undefined;
}

/** A received request with the verdict on its signature. */
export interface TestRequest {
  readonly method: string;
  readonly path: string;
  /** The status of the response. Undefined if none was sent. */
  readonly status: number | undefined;
  /** The verdict: `unchecked` without a `secret`, and for unsigned calls of a tracking API. */
  readonly verdict: SignatureVerdict;
  /** Why the signature is invalid or missing. */
  readonly reason?: string;
  /**
   * The full write key of the call. Only here and in `messages` of this request is the key complete; elsewhere only its
   * last characters appear.
   */
  readonly writeKey?: string;
  readonly messages: readonly SentMessage[];
}

/** A message that a tracking API would drop without telling its sender, or a request that cannot be read. */
export interface TestRejection {
  /** Code of the reason: `too-large` for a message over 32 KB, else `invalid`, also for a request that cannot be read. */
  readonly code: 'invalid' | 'too-large';
  readonly reason: string;
  /** The rejected message. Undefined if the whole request is rejected. */
  readonly message?: SentMessage;
}

/** A tracking API and webhook receiver in the test's own process, on 127.0.0.1. */
export interface TestReceiver {
  /** The URL for webhooks, such as `http://127.0.0.1:54321`. */
  readonly url: string;
  /**
   * The URL under the name that client libraries use for it (`host`; in some `dataPlaneUrl` or `cdnURL`). Equal to `url`.
   */
  readonly host: string;
  readonly writeKey: string;
  /**
   * The matching messages in order of arrival. Excludes messages whose response was not a 2xx, because their sender retries
   * them.
   */
  messages(matcher?: MessageMatcher): readonly SentMessage[];
  /** All received requests in order of arrival. */
  requests(): readonly TestRequest[];
  /**
   * Messages and requests that a tracking API would drop: messages over 32 KB or without a user, requests that are not JSON.
   */
  rejections(): readonly TestRejection[];
  /**
   * Resolves with the matching messages when there are `count` of them. Rejects after `withinMs`, with the nearest message
   * in the error.
   */
  waitFor(matcher: MessageMatcher, options?: WaitOptions): Promise<readonly SentMessage[]>;
  /** Forgets all received requests and messages. */
  clear(): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a receiver for tests. Throws ConfigError for an option that is unknown or of the wrong kind. */
export async function startTestReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  validateOptions(options, { kinds: KINDS });
  const { port, writeKey = 'test-write-key', respond, secret, scheme } = options;
  const log = new MessageLog();
  const receiverOptions = {
    port,
    secrets: secret === undefined ? [] : [secret],
    scheme,
    script: respond === undefined ? undefined : parseScript(respond),
    onRequest: (request: ReceivedRequest) => log.add(request),
    onRefused: (rejection: ConnectionRejection) => log.addRejection(rejection),
  };
  const receiver = await Receiver.start(receiverOptions, explainMismatch);
  return runningReceiver(receiver, log, writeKey);
}

/** The received requests and messages, and the callers that wait for more. */
class MessageLog {
  arrived: ArrivedMessage[] = [];
  requests: TestRequest[] = [];
  rejections: TestRejection[] = [];
  readonly #waiting = new Set<() => void>();

  add(request: ReceivedRequest): void {
    const messages = messagesOf(request).filter(({ value }) => isJsonObject(value));
    this.requests.push(testRequest(request, messages));
    const unread = unreadReason(request);
    if (unread !== undefined) this.rejections.push({ code: 'invalid', reason: unread });
    for (const message of isAccepted(request) ? messages : []) {
      const { code, message: reason = '' } = message.rejection ?? {};
      if (code !== undefined) this.rejections.push({ code, reason, message: sentMessage(message) });
      const number = this.arrived.length + 1;
      const isSole = messages.length === 1;
      this.arrived.push({ message, request: this.requests.length, isSole, number });
    }
    for (const wake of this.#waiting) wake();
  }

  addRejection(rejection: ConnectionRejection): void {
    const reason = rejectedReason(rejection);
    if (reason !== undefined) this.rejections.push({ code: 'invalid', reason });
  }

  clear(): void {
    this.arrived = [];
    this.requests = [];
    this.rejections = [];
  }

  /** Resolves with true when `isDone` returns true, with false after `withinMs`. */
  wait(isDone: () => boolean, withinMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      const end = (isMet: boolean): void => {
        cancel();
        this.#waiting.delete(wake);
        resolve(isMet);
      };
      const wake = (): void => {
        try {
          if (isDone()) end(true);
        } catch (error) {
          reject(error); // an error of the matcher belongs to the waiting caller, not to the receiver
          end(false);
        }
      };
      const cancel = systemClock.after(withinMs, () => end(false));
      this.#waiting.add(wake);
    });
  }
}

function testRequest(
  { method, path, status, verdict, diagnosis, call }: ReceivedRequest,
  messages: readonly ReceivedMessage[],
): TestRequest {
  const reason = diagnosis?.hint;
  return {
    method,
    path,
    status,
    verdict,
    ...(reason !== undefined && { reason }),
    ...(call?.writeKey !== undefined && { writeKey: call.writeKey }),
    messages: messages.map((message) => sentMessage(message, (key) => key)),
  };
}

function sentMessage(message: ReceivedMessage, written = shownWriteKey): SentMessage {
  return wholeMessage(message, written) as SentMessage; // MessageLog keeps only objects
}

/**
 * A symbol from the global registry: if a test imports the receiver and require()s the matchers, this file is loaded twice,
 * and both copies must have the same symbol.
 */
const ARRIVED = Symbol.for('hooks-cli/testing arrived');

/** Returns the messages that a test receiver got. Throws TypeError if `receiver` is not a test receiver. */
export function arrivedAt(receiver: unknown): readonly ArrivedMessage[] {
  if (typeof receiver === 'object' && receiver !== null && ARRIVED in receiver) {
    return receiver[ARRIVED] as readonly ArrivedMessage[]; // only a test receiver has this symbol
  }
  throw new TypeError('Expected a receiver of startTestReceiver, as in expect(receiver)');
}

function runningReceiver(receiver: Receiver, log: MessageLog, writeKey: string): TestReceiver {
  const messages = (matcher?: MessageMatcher): readonly SentMessage[] => {
    const conditions = matcher === undefined ? [] : readMatcher(matcher).conditions;
    const { taken } = matchMessages(log.arrived, conditions);
    return taken.map(({ message }) => sentMessage(message));
  };
  const close = (): Promise<void> => receiver.close();
  const running = {
    url: receiver.url,
    host: receiver.url,
    writeKey,
    get [ARRIVED](): readonly ArrivedMessage[] {
      return log.arrived;
    },
    messages,
    requests: () => log.requests,
    rejections: () => log.rejections,
    waitFor: async (matcher: MessageMatcher, options: WaitOptions = {}) => {
      validateOptions(options, { kinds: { count: 'a number', withinMs: 'a number' } });
      const { count = 1, withinMs = 5_000 } = options;
      const isMet = await log.wait(() => messages(matcher).length >= count, withinMs);
      const found = messages(matcher);
      if (isMet) return found;
      const within = `within ${formatDuration(withinMs)}`;
      throw new Error(explainMessages(log.arrived, { ...readMatcher(matcher), wanted: count, within }));
    },
    clear: () => log.clear(),
    close,
    [Symbol.asyncDispose]: close,
  };
  return running;
}
