import { checkOptions } from '../check-options.ts';
import { systemClock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import { isJsonObject } from '../message/types.ts';
import type { ArrivedMessage } from '../receiver/expected/finding.ts';
import { messagesOf } from '../receiver/messages/messages-of.ts';
import type { ReceivedRequest } from '../receiver/received-request.ts';
import { startReceiver, type Receiver } from '../receiver/receiver.ts';
import { parseScript } from '../receiver/response/script.ts';
import { explainMessages, takesMessage } from './explain-messages.ts';
import { readMatcher, type MessageMatcher, type SentMessage } from './message-matcher.ts';

export interface TestReceiverOptions {
  /** 0 takes a free one. @default 0 */
  readonly port?: number | undefined;
  /** What `writeKey` is; any write key is accepted. @default 'test-write-key' */
  readonly writeKey?: string | undefined;
  /** What it responds with, as `hooks listen --respond`: `503x2,200`. @default 200 */
  readonly respond?: string | undefined;
}

const KINDS = { port: 'given', writeKey: 'a string', respond: 'a string' } as const satisfies Record<
  keyof TestReceiverOptions,
  string
>;

export interface WaitOptions {
  /** @default 1 */
  readonly count?: number | undefined;
  /** Ms. @default 5_000 */
  readonly withinMs?: number | undefined;
}

/** A tracking API and webhook receiver in the test's own process, on 127.0.0.1. */
export interface TestReceiver {
  /** Where webhooks are posted to: `http://127.0.0.1:54321`. */
  readonly url: string;
  /** The `host` of a client library (`dataPlaneUrl`, `cdnURL`): the same. */
  readonly host: string;
  readonly writeKey: string;
  /** The messages that came and match, in order of arrival. */
  messages(matcher?: MessageMatcher): readonly SentMessage[];
  /** Resolves with the messages that match when there are `count` of them. Rejects when `withinMs` are over, naming the nearest. */
  waitFor(matcher: MessageMatcher, options?: WaitOptions): Promise<readonly SentMessage[]>;
  /** Forgets what came. */
  clear(): void;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Throws ConfigError for an unknown option, or one of another kind. */
export async function startTestReceiver(options: TestReceiverOptions = {}): Promise<TestReceiver> {
  checkOptions(options, { kinds: KINDS });
  const { port, writeKey = 'test-write-key', respond } = options;
  const log = new MessageLog();
  const receiver = await startReceiver({
    port,
    secrets: [],
    script: respond === undefined ? undefined : parseScript(respond),
    onRequest: (request) => log.add(request),
  });
  return new RunningTestReceiver(receiver, log, writeKey);
}

/** What came, and who waits for more. */
class MessageLog {
  arrived: ArrivedMessage[] = [];
  #requests = 0;
  readonly #waiting = new Set<() => void>();

  add(request: ReceivedRequest): void {
    this.#requests += 1;
    const messages = messagesOf(request);
    for (const message of messages) {
      if (!isJsonObject(message.value)) continue;
      const number = this.arrived.length + 1;
      this.arrived.push({ message, request: this.#requests, isSole: messages.length === 1, number });
    }
    for (const wake of this.#waiting) wake();
  }

  clear(): void {
    this.arrived = [];
    this.#requests = 0;
  }

  /** Resolves with true when `isDone` is, with false when the time is over. */
  wait(isDone: () => boolean, withinMs: number): Promise<boolean> {
    if (isDone()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const end = (isMet: boolean): void => {
        cancel();
        this.#waiting.delete(wake);
        resolve(isMet);
      };
      const wake = (): void => {
        if (isDone()) end(true);
      };
      const cancel = systemClock.after(withinMs, () => end(false));
      this.#waiting.add(wake);
    });
  }
}

/** Of the registry: a test may import the receiver as a module, and require the matchers, which are two copies of this file. */
const ARRIVED = Symbol.for('hooks-cli/testing arrived');

/** What a test receiver has received. Throws TypeError for anything else: a matcher was given the wrong thing. */
export function arrivedAt(receiver: unknown): readonly ArrivedMessage[] {
  if (typeof receiver === 'object' && receiver !== null && ARRIVED in receiver) {
    return receiver[ARRIVED] as readonly ArrivedMessage[]; // only a test receiver has it
  }
  throw new TypeError('Expected a receiver of startTestReceiver, as in expect(receiver)');
}

class RunningTestReceiver implements TestReceiver {
  readonly url: string;
  readonly host: string;
  readonly writeKey: string;
  readonly #receiver: Receiver;
  readonly #log: MessageLog;

  constructor(receiver: Receiver, log: MessageLog, writeKey: string) {
    this.url = receiver.url;
    this.host = receiver.url;
    this.writeKey = writeKey;
    this.#receiver = receiver;
    this.#log = log;
  }

  get [ARRIVED](): readonly ArrivedMessage[] {
    return this.#log.arrived;
  }

  messages(matcher?: MessageMatcher): readonly SentMessage[] {
    const read = matcher === undefined ? undefined : readMatcher(matcher);
    const { arrived } = this.#log;
    const taken = read === undefined ? arrived : arrived.filter((each) => takesMessage(read, each));
    return taken.map(({ message }) => message.value as SentMessage); // only objects are kept
  }

  async waitFor(matcher: MessageMatcher, options: WaitOptions = {}): Promise<readonly SentMessage[]> {
    const { count = 1, withinMs = 5_000 } = options;
    const isMet = await this.#log.wait(() => this.messages(matcher).length >= count, withinMs);
    const found = this.messages(matcher);
    if (isMet) return found;
    const within = `within ${formatDuration(withinMs)}`;
    throw new Error(explainMessages(this.#log.arrived, { ...readMatcher(matcher), wanted: count, within }));
  }

  clear(): void {
    this.#log.clear();
  }

  close(): Promise<void> {
    return this.#receiver.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
