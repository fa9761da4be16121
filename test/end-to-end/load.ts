import { setTimeout as delay } from 'node:timers/promises';
import { Countdown } from './countdown.ts';
import { REFUSED } from './failing-receiver.ts';
import { WRITE_KEY } from './serve-and-worker.ts';

export interface LoadOptions {
  readonly random: () => number;
  /** Where the service is now; undefined while it is not there. */
  readonly url: () => string | undefined;
  /** Whether so much waits that callers should, too. */
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
/** Of the callers that get no answer: they do not call again. */
const GIVES_UP = 0.1;

/** Callers who call one after the other, with batches and single calls, until they are stopped. They know what got a 200. */
export class Load {
  /** The `messageId`s of what was taken: it must be delivered, wait, or be a dead letter. */
  readonly acknowledged = new Set<string>();
  /** Of these, those that no webhook takes. */
  readonly refused = new Set<string>();
  /** Those of a batch that were answered to be invalid. */
  readonly invalid = new Set<string>();
  /** Anything but 200. */
  readonly otherAnswers: string[] = [];
  unanswered = 0;
  /** Counts whatever was answered, before anything else comes of it. */
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

  /** Again with the same ids until there is a response, as a client does. */
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

/** Undefined: nobody is there, or went away before the response was whole. */
export async function post(url: string, body: string): Promise<Answer | undefined> {
  const authorization = `Basic ${Buffer.from(`${WRITE_KEY}:`).toString('base64')}`;
  try {
    const response = await fetch(url, { method: 'POST', headers: { authorization }, body });
    return { status: response.status, text: await response.text() };
  } catch {
    return undefined;
  }
}
