import { randomUUID } from 'node:crypto';
import type { ComparedReceiver, ComparedRequest } from '../../../../app/compare/compared-receiver.ts';
import { sleep, systemClock } from '../../../../clock.ts';
import { InputError } from '../../../../errors.ts';
import { encodeBody, isEnabled, orderKeysOf } from '../../../../message/outgoing-message.ts';
import { isJsonObject } from '../../../../message/types.ts';
import type { ComparedResponse, Sides } from '../../../../replay/compare/compared-response.ts';
import type { IgnoresPath } from '../../../../replay/compare/ignored-paths.ts';
import {
  LEARNED_MESSAGES,
  ResponseComparison,
  type ComparedExchange,
} from '../../../../replay/compare/response-comparison.ts';
import type { ComparedEntry } from '../../../../replay/compare/value-sketch.ts';
import type { ExpectedTotal } from '../../../../replay/expected-total.ts';
import type { ReplayPace } from '../../../../replay/pace.ts';
import type { Input } from '../../../../replay/reading/inputs.ts';
import { readEntries } from '../../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import { recordedAtOf } from '../../../../replay/rewrite.ts';
import type { ReplaySelection } from '../../../../replay/selection.ts';
import { WeightedSemaphore } from '../../../../weighted-semaphore.ts';
import type { RecordedHeaders } from '../../../flags/delivery/recorded-headers.ts';
import { messageTitleOf } from '../../../print/result-line.ts';
import { prepareEntry, readyEntry, type ReadyEntry, type ReadyOptions } from '../entry-message.ts';
import type { CompareOptions } from './options.ts';
import type { CompareOutput } from './output.ts';
import type { ComparisonResult } from './reported-difference.ts';
import type { StateComparison } from './state-comparison.ts';

interface ComparisonParts {
  readonly inputs: readonly Input[];
  readonly receivers: Sides<ComparedReceiver>;
  readonly ignores: IgnoresPath;
  readonly options: CompareOptions;
  readonly destination: { readonly name: string; readonly concurrency: number };
  readonly readyOptions: ReadyOptions;
  readonly selection: ReplaySelection;
  readonly pace: ReplayPace;
  readonly recorded: RecordedHeaders;
  /** Undefined without `--state`. */
  readonly states: StateComparison | undefined;
  readonly output: CompareOutput;
  readonly expected: ExpectedTotal;
  readonly signal: AbortSignal;
}

interface SlowMessage {
  readonly request: ComparedRequest;
  readonly title: string;
  readonly side: 'old' | 'new';
  readonly excessMs: number;
}

/** Maximum number of slow messages to send again, and of repeats of each. The repeats rule out a pause of this machine. */
const MAX_SLOW = 5;
const SLOW_REPEATS = 3;
/** Maximum number of requests to send again if fewer than LEARNED_MESSAGES messages differ, which may be noise. */
const MAX_RELEARNED = 10;
/** Matches the errors of a request that cannot connect. If the first message fails with one, the comparison stops. */
const UNREACHABLE = /^(?:refused|dns|tls|blocked-address)/;

/** Sends each message to both receivers, and alternates which one gets it first. */
export class ReceiverComparison {
  readonly #parts: ComparisonParts;
  readonly #comparison: ResponseComparison;
  readonly #slots: WeightedSemaphore;
  /** The latest exchange of each order key, until it has ended. The next message with the key waits for it. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  #found = 0;
  #sent = 0;
  #invalid = 0;
  #filtered = 0;
  #error: unknown;
  /** The first messages, at most LEARNED_MESSAGES. */
  readonly #first: { readonly request: ComparedRequest; readonly exchange: ComparedExchange }[] = [];
  /** The slow messages with the largest latency differences between the receivers, at most MAX_SLOW. */
  #slow: readonly SlowMessage[] = [];

  constructor(parts: ComparisonParts) {
    const { destination, ignores } = parts;
    this.#parts = parts;
    this.#comparison = new ResponseComparison(ignores, destination.concurrency);
    this.#slots = new WeightedSemaphore(destination.concurrency);
  }

  /**
   * Compares all messages. Undefined if the inputs have no entries. Throws InputError if a receiver is unreachable at the
   * start, the states differ at the start, or a state cannot be read.
   */
  async run(): Promise<ComparisonResult | undefined> {
    const { states, inputs, signal } = this.#parts;
    if ((await states?.difference()) !== undefined) throw differentStart();
    for (const input of inputs) await this.#readInput(input);
    await Promise.all(this.#running);
    if (this.#error !== undefined) throw this.#error;
    if (this.#found === 0) return undefined;
    for (let count = 0; count < MAX_RELEARNED && this.#comparison.isUncertain && !signal.aborted; count++) {
      const again = this.#first[count % this.#first.length];
      if (again !== undefined) await this.#learnAgain(again.request, again.exchange);
    }
    await this.#confirmLatency();
    const state = signal.aborted ? undefined : await states?.difference();
    return { ...this.#comparison.result(), invalid: this.#invalid, filtered: this.#filtered, state };
  }

  get #isOver(): boolean {
    return this.#parts.signal.aborted || this.#error !== undefined || this.#parts.selection.isDone;
  }

  async #readInput(input: Input): Promise<void> {
    const { readyOptions, options, output, expected, signal } = this.#parts;
    if (this.#isOver) return;
    const reading = { exact: readyOptions.exact, format: options.format, onBytes: expected.read };
    for await (const entries of readEntries(input, signal, reading)) {
      expected.found(entries.length);
      for (const entry of entries) {
        if (this.#isOver) return;
        await this.#take(entry);
        output.done = this.#found;
      }
    }
  }

  async #take(entry: ReplayEntry): Promise<void> {
    const { selection, readyOptions, destination, output } = this.#parts;
    this.#found++;
    const read = prepareEntry(entry, readyOptions);
    const selected = selection.takes(read.value);
    if (selected === false) return;
    const found = selected === true ? readyEntry(read, readyOptions) : { entry, error: selected };
    if (found.error !== undefined) {
      this.#invalid++;
      output.invalid(found.entry, found.error);
    } else if (isEnabled(found.ready.message.integrations, destination.name)) await this.#start(found);
    else this.#filtered++;
  }

  /**
   * Sends a message to both receivers. Sends the first LEARNED_MESSAGES one by one, and later messages concurrently. With
   * `--order user`, the messages of a user are sent one by one.
   */
  async #start({ entry, value, ready }: ReadyEntry): Promise<void> {
    const { pace, options, recorded, signal } = this.#parts;
    const { message, exactBody } = ready;
    if (options.exact) recorded.add(entry);
    const isTimed = options.speed !== undefined && isJsonObject(value);
    const waitMs = pace.next(isTimed ? recordedAtOf(value) : undefined);
    if (waitMs > 0) await sleep(systemClock, waitMs, signal);
    await this.#slots.enter();
    if (signal.aborted) return;
    const body = exactBody ?? Buffer.from(encodeBody(message));
    const request = { messageId: message.messageId ?? randomUUID(), body };
    const name = messageTitleOf(message);
    const title = name === '' ? message.type : `${message.type} ${JSON.stringify(name)}`;
    const compared = { index: this.#found, origin: entry.origin, title };
    const keys = options.order === 'user' ? orderKeysOf(message) : [];
    const number = this.#sent++;
    const running = this.#inOrder(keys, () => this.#exchange(request, compared, number));
    if (number < LEARNED_MESSAGES) await running;
  }

  #inOrder(keys: readonly string[], task: () => Promise<void>): Promise<void> {
    const earlier = keys.flatMap((key) => this.#last.get(key) ?? []);
    const running = Promise.all(earlier)
      .then(task)
      .catch((error: unknown) => void (this.#error ??= error))
      .finally(() => {
        this.#slots.leave();
        this.#running.delete(running);
        for (const key of keys) if (this.#last.get(key) === running) this.#last.delete(key);
      });
    this.#running.add(running);
    for (const key of keys) this.#last.set(key, running);
    return running;
  }

  async #exchange(request: ComparedRequest, entry: ComparedEntry, number: number): Promise<void> {
    const { receivers, signal } = this.#parts;
    const early = number % 2 === 0 ? await receivers.old.send(request) : undefined;
    const next = await receivers.new.send(request);
    const old = early ?? (await receivers.old.send(request));
    // An aborted request says nothing about a receiver.
    if (signal.aborted) return;
    const responses = { old, new: next };
    if (number === 0) this.#rejectUnreachable(responses);
    const exchange = { entry, body: request.body, responses, now: systemClock.now() };
    if (number < LEARNED_MESSAGES) {
      this.#first.push({ request, exchange });
      await this.#learnAgain(request, exchange);
    }
    const again = this.#comparison.add(exchange);
    if (again === 'old') await this.#learnAgain(request, exchange);
    if (again !== 'both') return;
    const excessMs = msOf(next) - msOf(old);
    const side = excessMs > 0 ? 'new' : 'old';
    const slow = { request, title: entry.title, side, excessMs: Math.abs(excessMs) } as const;
    this.#slow = [...this.#slow, slow]
      .toSorted((one, other) => other.excessMs - one.excessMs)
      .slice(0, MAX_SLOW);
  }

  async #learnAgain(request: ComparedRequest, exchange: ComparedExchange): Promise<void> {
    const { receivers, states } = this.#parts;
    this.#comparison.learn(exchange, await receivers.old.send(request));
    // Keeps the states comparable: both receivers must get the same requests.
    if (states !== undefined) await receivers.new.send(request);
  }

  /** Sends the slow messages again, with no others in flight, until one of them is confirmed as slow. */
  async #confirmLatency(): Promise<void> {
    const { receivers, signal } = this.#parts;
    const { latency } = this.#comparison;
    for (const { request, title, side } of this.#slow) {
      const repeats: Sides<number>[] = [];
      let isSlow = true;
      while (isSlow && repeats.length < SLOW_REPEATS && !signal.aborted) {
        const ms = {
          old: msOf(await receivers.old.send(request)),
          new: msOf(await receivers.new.send(request)),
        };
        isSlow = latency.slowSideOf(ms) === side;
        repeats.push(ms);
      }
      if (signal.aborted || latency.confirm(title, side, repeats)) return;
    }
  }

  #rejectUnreachable(responses: Sides<ComparedResponse>): void {
    for (const side of ['old', 'new'] as const) {
      const response = responses[side];
      if (response.kind === 'response' || !UNREACHABLE.test(response.error)) continue;
      const { shownUrl } = this.#parts.receivers[side];
      throw new InputError(`Cannot reach the ${side} receiver at ${shownUrl}: ${response.detail}`, {
        hint: 'start both receivers, and check the URLs of --url and --compare',
      });
    }
  }
}

function msOf(response: ComparedResponse): number {
  return response.kind === 'none' ? 0 : response.ms;
}

function differentStart(): InputError {
  return new InputError('The states of the two receivers differ before the first message', {
    hint: 'bring both receivers to the same state first; --state is for the new one, --old-state for the old one',
  });
}
