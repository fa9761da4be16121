import { randomUUID } from 'node:crypto';
import type { ComparedReceiver, SentMessage } from '../../../../app/compare-receivers.ts';
import { sleep, systemClock } from '../../../../clock.ts';
import { InputError, type HooksError } from '../../../../errors.ts';
import { encodeBody, isEnabled, orderKeysOf } from '../../../../message/outgoing-message.ts';
import { isJsonObject } from '../../../../message/types.ts';
import { compareResponses } from '../../../../replay/compare/compare-responses.ts';
import { readResponse, type ComparedResponse } from '../../../../replay/compare/compared-response.ts';
import {
  DifferenceTally,
  type ComparedMessage,
  type DifferenceKind,
} from '../../../../replay/compare/difference-tally.ts';
import type { IgnoresPath } from '../../../../replay/compare/ignored-paths.ts';
import {
  LatencyComparison,
  type LatencyDifference,
  type LatencyStart,
} from '../../../../replay/compare/latency-comparison.ts';
import { NoiseModel } from '../../../../replay/compare/noise-model.ts';
import type { ExpectedTotal } from '../../../../replay/expected-total.ts';
import type { ReplayPace } from '../../../../replay/pace.ts';
import type { Input } from '../../../../replay/reading/inputs.ts';
import { readEntries } from '../../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import { recordedAtOf } from '../../../../replay/rewrite.ts';
import type { ReplaySelection } from '../../../../replay/selection.ts';
import { WeightedSemaphore } from '../../../../weighted-semaphore.ts';
import type { RecordedSignatures } from '../../../flags/delivery/recorded-signatures.ts';
import { messageTitleOf } from '../../../print/result-line.ts';
import { prepareEntry, readyEntry, type ReadyEntry, type ReadyOptions } from '../entry-message.ts';
import type { CompareOptions } from './options.ts';
import type { CompareOutput } from './output.ts';
import type { StateComparison, StateDifference } from './state-comparison.ts';

type Sides<Value> = Readonly<Record<'old' | 'new', Value>>;

interface ComparisonParts {
  readonly inputs: readonly Input[];
  readonly receivers: Sides<ComparedReceiver>;
  readonly ignores: IgnoresPath;
  readonly options: CompareOptions;
  readonly destination: { readonly name: string; readonly concurrency: number };
  readonly readyOptions: ReadyOptions;
  readonly selection: ReplaySelection;
  readonly pace: ReplayPace;
  readonly signatures: RecordedSignatures;
  /** Undefined without `--state`. */
  readonly states: StateComparison | undefined;
  readonly output: CompareOutput;
  readonly expected: ExpectedTotal;
  readonly signal: AbortSignal;
}

export interface ComparisonResult {
  /** Number of messages that both receivers got. */
  readonly compared: number;
  readonly invalid: number;
  /** Number of messages whose `integrations` exclude the destination. */
  readonly filtered: number;
  readonly isSame: boolean;
  readonly kinds: readonly DifferenceKind[];
  /** Number of messages with a difference beyond the kinds that are kept. */
  readonly furtherMessages: number;
  readonly latency: readonly LatencyDifference[];
  readonly state: StateDifference | undefined;
  readonly noise: readonly string[];
}

/** An exchange whose responses are compared later, when the noise is learned. */
interface Exchange {
  readonly message: ComparedMessage;
  readonly body: Uint8Array;
  readonly responses: Sides<ComparedResponse>;
  readonly starts: Sides<LatencyStart>;
}

/** Number of messages that are sent twice to the old receiver. */
const LEARNED = 20;
/** Errors without a connection. If the first message has one, there is nothing to compare. */
const UNREACHABLE = /^(?:refused|dns|tls|blocked-address)/;

/** Sends each message to both receivers, in turn one or the other first, and compares what they do with it. */
export class ReceiverComparison {
  readonly #parts: ComparisonParts;
  readonly #noise = new NoiseModel();
  readonly #tally = new DifferenceTally();
  readonly #latency: LatencyComparison;
  readonly #slots: WeightedSemaphore;
  /** The last exchange of each order key. */
  readonly #last = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  /** The exchanges of the messages that are sent twice. Undefined once they are compared. */
  #unlearned: Exchange[] | undefined = [];
  #index = -1;
  #sent = 0;
  #compared = 0;
  #invalid = 0;
  #filtered = 0;
  #error: unknown;

  constructor(parts: ComparisonParts) {
    this.#parts = parts;
    const { concurrency } = parts.destination;
    this.#slots = new WeightedSemaphore(concurrency);
    this.#latency = new LatencyComparison(concurrency);
  }

  async run(): Promise<{ readonly foundAny: boolean; readonly result: ComparisonResult }> {
    const { states, signal } = this.#parts;
    if (states !== undefined && (await states.difference()) !== undefined) throw differentStart();
    for (const input of this.#parts.inputs) await this.#readInput(input);
    await Promise.all(this.#running);
    if (this.#error !== undefined) throw this.#error;
    this.#compareLearned();
    const state = signal.aborted ? undefined : await states?.difference();
    return { foundAny: this.#index >= 0, result: this.#result(state) };
  }

  #result(state: StateDifference | undefined): ComparisonResult {
    const [kinds, latency] = [this.#tally.kinds(this.#noise), this.#latency.differences()];
    const { furtherMessages } = this.#tally;
    const differences = kinds.length + latency.length + furtherMessages + (state === undefined ? 0 : 1);
    return {
      compared: this.#compared,
      invalid: this.#invalid,
      filtered: this.#filtered,
      isSame: differences + this.#invalid === 0,
      kinds,
      furtherMessages,
      latency,
      state,
      noise: this.#noise.paths(),
    };
  }

  get #isOver(): boolean {
    return this.#parts.signal.aborted || this.#error !== undefined || this.#parts.selection.isDone;
  }

  async #readInput(input: Input): Promise<void> {
    const { readyOptions, options, expected, signal } = this.#parts;
    if (this.#isOver) return;
    const reading = { exact: readyOptions.exact, format: options.format, onBytes: expected.read };
    for await (const entries of readEntries(input, signal, reading)) {
      expected.found(entries.length);
      for (const entry of entries) {
        if (this.#isOver) return;
        await this.#take(entry);
      }
    }
  }

  async #take(entry: ReplayEntry): Promise<void> {
    const { selection, readyOptions, destination, output } = this.#parts;
    const index = ++this.#index;
    const read = prepareEntry(entry, readyOptions);
    const selected = selection.takes(read.value);
    if (selected === false) return;
    const found = selected === true ? readyEntry(read, readyOptions) : { entry, error: selected };
    if (found.error !== undefined) return this.#reject(found.entry, found.error);
    const { integrations } = found.ready.message;
    if (!isEnabled(integrations, destination.name)) this.#filtered++;
    else await this.#start(found, index);
    output.done = this.#compared + this.#invalid + this.#filtered;
  }

  #reject(entry: ReplayEntry, error: HooksError): void {
    this.#invalid++;
    this.#parts.output.invalid(entry, error);
  }

  /** Sends the messages to learn from one after the other, and later ones at once, but in order for each user. */
  async #start(found: ReadyEntry, index: number): Promise<void> {
    const { pace, options, signatures, readyOptions, signal } = this.#parts;
    const { entry, value, ready } = found;
    const { message, exactBody } = ready;
    if (readyOptions.exact) signatures.add(entry);
    const isTimed = options.speed !== undefined && isJsonObject(value);
    const waitMs = pace.next(isTimed ? recordedAtOf(value) : undefined);
    if (waitMs > 0) await sleep(systemClock, waitMs, signal);
    await this.#slots.enter();
    if (signal.aborted) return;
    const name = messageTitleOf(message);
    const sent = {
      messageId: message.messageId ?? randomUUID(),
      body: exactBody ?? Buffer.from(encodeBody(message)),
    };
    const about = {
      index,
      origin: entry.origin,
      title: name === '' ? message.type : `${message.type} ${JSON.stringify(name)}`,
    };
    const keys = options.order === 'user' ? orderKeysOf(message) : [];
    const isLearned = this.#sent++ < LEARNED;
    const running = this.#inOrder(keys, () => this.#exchange(sent, about, isLearned));
    if (isLearned) await running;
    if (this.#sent === LEARNED) this.#compareLearned();
  }

  #inOrder(keys: readonly string[], task: () => Promise<void>): Promise<void> {
    const earlier = keys.map((key) => this.#last.get(key));
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

  async #exchange(sent: SentMessage, message: ComparedMessage, isLearned: boolean): Promise<void> {
    const { receivers, states, signal } = this.#parts;
    const start = (side: 'old' | 'new'): LatencyStart => this.#latency.start(side, performance.now());
    const starts = { old: start('old'), new: start('new') };
    const send = (side: 'old' | 'new'): Promise<ComparedResponse> => {
      starts[side] = start(side);
      return receivers[side].send(sent);
    };
    const [first, second] = message.index % 2 === 0 ? (['old', 'new'] as const) : (['new', 'old'] as const);
    const one = await send(first);
    const other = await send(second);
    if (signal.aborted) return;
    const responses = first === 'old' ? { old: one, new: other } : { old: other, new: one };
    if (this.#compared++ === 0) this.#rejectUnreachable(responses);
    const exchange = { message, body: sent.body, responses, starts };
    if (!isLearned) return this.#compare(exchange);
    this.#unlearned?.push(exchange);
    this.#learn(exchange, await receivers.old.send(sent));
    // The states stay comparable only if both receivers get the same requests.
    if (states !== undefined) await receivers.new.send(sent);
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

  #learn({ responses: { old }, body }: Exchange, again: ComparedResponse): void {
    if (old.kind === 'none' || again.kind === 'none') return;
    this.#noise.learn(readResponse(old), readResponse(again), contextOf(body));
  }

  #compareLearned(): void {
    const exchanges = this.#unlearned ?? [];
    this.#unlearned = undefined;
    for (const exchange of exchanges) this.#compare(exchange);
  }

  #compare({ responses, message, body, starts }: Exchange): void {
    const { ignores } = this.#parts;
    const { old, new: new_ } = responses;
    const context = { ...contextOf(body), noise: this.#noise, ignores };
    this.#tally.add(compareResponses(old, new_, context), message);
    // The first messages wait for connections, and for receivers that have just started.
    const isTimed = this.#sent > LEARNED && old.kind === 'response' && new_.kind === 'response';
    if (isTimed) this.#latency.add(message.title, { old: old.ms, new: new_.ms }, starts);
  }
}

function contextOf(body: Uint8Array) {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return { isEchoed: (text: string) => bytes.includes(text), now: systemClock.now() };
}

function differentStart(): InputError {
  return new InputError('The states of the two receivers differ before the first message', {
    hint: 'bring both receivers to the same state first: --state and --old-state show the new and the old one',
  });
}
