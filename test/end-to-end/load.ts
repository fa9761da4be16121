import { setTimeout as delay } from 'node:timers/promises';
import { basic } from '../service/serving.ts';
import { Countdown } from './countdown.ts';
import { REFUSED } from './failing-receiver.ts';
import { WRITE_KEY } from './serve-and-worker.ts';

export interface LoadOptions {
  readonly random: () => number;
  /** Returns the current URL of the service. Undefined if the service is down. */
  readonly url: () => string | undefined;
  /** Whether the backlog is so long that callers pause. */
  readonly isFull: () => boolean;
}

interface Message {
  readonly messageId: string;
  readonly type: string;
  readonly userId: string;
  readonly event?: string;
}

const CALLERS = 4;
const LARGEST_BATCH = 12;
/** Share of the calls without a response that are not repeated. */
const GIVES_UP = 0.1;

/** Concurrent callers that send batches and single calls until they are stopped, and record the responses. */
export class Load {
  /** The `messageId`s that got a 200. Their messages must be delivered, waiting, or dead letters. */
  readonly acknowledged = new Set<string>();
  /** The acknowledged messages that every webhook rejects. */
  readonly refused = new Set<string>();
  /** The messages of batches that the response calls invalid. */
  readonly invalid = new Set<string>();
  /** Responses other than 200. */
  readonly otherAnswers: string[] = [];
  unanswered = 0;
  /** Counts each response in the turn in which it arrives. */
  readonly answers = new Countdown();
  readonly #options: LoadOptions;
  #callers: readonly Promise<void>[] = [];
  #isStopped = false;
  #count = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    this.#callers = Array.from({ length: CALLERS }, () => this.#callOn());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#callers);
  }

  async #callOn(): Promise<void> {
    const { random, isFull } = this.#options;
    while (!this.#isStopped) {
      if (isFull()) await delay(5);
      else if (random() < 0.3) await this.#call([this.#message('track')], '/v1/track');
      else await this.#call(this.#batch(), '/v1/batch');
    }
  }

  #batch(): readonly Message[] {
    const { random } = this.#options;
    const length = 1 + Math.floor(random() * LARGEST_BATCH);
    return Array.from({ length }, () => this.#message(random() < 0.02 ? 'unheard-of' : 'track'));
  }

  #message(type: string): Message {
    const messageId = `m${this.#count++}`;
    const event = this.#options.random() < 0.03 ? REFUSED : 'Signup — né 😀';
    return { messageId, type, userId: `user of ${messageId}`, event };
  }

  /** Repeats a call with the same ids until it gets a response, as a client does. */
  async #call(messages: readonly Message[], path: string): Promise<void> {
    const { random, url } = this.#options;
    const [single] = messages;
    const body = JSON.stringify(path === '/v1/batch' ? { batch: messages } : { ...single, type: undefined });
    while (!this.#isStopped) {
      const answer = await post(`${url()}${path}`, body);
      if (answer !== undefined) {
        this.answers.count();
        return this.#note(messages, answer);
      }
      this.unanswered++;
      if (random() < GIVES_UP) return;
      await delay(10 + random() * 40);
    }
  }

  #note(messages: readonly Message[], { status, text }: Answer): void {
    if (status !== 200) {
      this.otherAnswers.push(`${status} ${text}`);
      return;
    }
    const { rejected = [] } = JSON.parse(text) as { rejected?: readonly { index: number }[] };
    const invalid = new Set(rejected.map(({ index }) => index));
    for (const [index, { messageId, event }] of messages.entries()) {
      const ids = invalid.has(index) ? this.invalid : this.acknowledged;
      ids.add(messageId);
      if (event === REFUSED && ids === this.acknowledged) this.refused.add(messageId);
    }
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Posts a body. Returns undefined if the service is down, or was killed before the response was complete. */
export async function post(url: string, body: string): Promise<Answer | undefined> {
  try {
    const response = await fetch(url, { method: 'POST', headers: basic(WRITE_KEY), body });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}
