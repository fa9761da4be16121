import { compareResponses } from './compare-responses.ts';
import { partsOfResponse, type ComparedResponse, type Sides } from './compared-response.ts';
import { DifferenceTally, type DifferenceKind } from './difference-tally.ts';
import type { IgnoresPath } from './ignored-paths.ts';
import { LatencyComparison, type LatencyDifference } from './latency-comparison.ts';
import { NoiseModel, type ComparedContext } from './noise-model.ts';
import type { ComparedEntry } from './value-sketch.ts';

/** A message, and the responses of both receivers to it. */
export interface ComparedExchange {
  readonly entry: ComparedEntry;
  /** The body of the request. */
  readonly body: Uint8Array;
  readonly responses: Sides<ComparedResponse>;
  /** When the responses came, in milliseconds since the epoch. */
  readonly now: number;
}

export interface ResponseComparisonResult {
  /** Number of messages that were sent to both receivers. */
  readonly compared: number;
  readonly kinds: readonly DifferenceKind[];
  /**
   * Number of differences of kinds that are not in `kinds`, because the number of kinds is limited. A message counts
   * once for each of these kinds.
   */
  readonly furtherMessages: number;
  readonly latency: readonly LatencyDifference[];
  /** The paths at which differences are ignored as noise. */
  readonly noise: readonly string[];
}

/** Number of messages at the start that are sent to the old receiver twice, to learn which values are noise. */
export const LEARNED_MESSAGES = 20;

/** Maximum number of messages to send again after the first LEARNED_MESSAGES, to learn more noise. */
const MAX_REPEATS = 50;

/** Compares the responses of two receivers. The first messages are compared only after noise is learned from all of them. */
export class ResponseComparison {
  readonly latency: LatencyComparison;
  readonly #ignores: IgnoresPath;
  readonly #noise = new NoiseModel();
  readonly #tally = new DifferenceTally();
  /** The first exchanges, which wait until noise is learned from all of them. Undefined once they are compared. */
  #learned: ComparedExchange[] | undefined = [];
  #compared = 0;
  #repeats = 0;

  /** @param concurrency maximum number of messages in flight */
  constructor(ignores: IgnoresPath, concurrency: number) {
    this.#ignores = ignores;
    this.latency = new LatencyComparison(concurrency);
  }

  /** Learns noise from another response of the old receiver to the same message. */
  learn(exchange: ComparedExchange, again: ComparedResponse): void {
    const { old } = exchange.responses;
    if (old.kind === 'none' || again.kind === 'none') return;
    this.#noise.learn(partsOfResponse(old), partsOfResponse(again), contextOf(exchange));
  }

  /**
   * Adds an exchange. Returns the receivers that must get its message again: `old` if a difference may be noise, `both`
   * if only one receiver was slow.
   */
  add(exchange: ComparedExchange): 'old' | 'both' | undefined {
    this.#compared++;
    const { entry, responses } = exchange;
    if (this.#learned !== undefined) {
      this.#learned.push(exchange);
      if (this.#learned.length === LEARNED_MESSAGES) this.#compareLearned();
      // Ignores these latencies, because the receivers may have just started.
      return undefined;
    }
    const isUnknown = this.#compare(exchange);
    const { old, new: new_ } = responses;
    if (old.kind === 'none' || new_.kind === 'none') return undefined;
    const isSlow = this.latency.add(entry.title, { old: old.ms, new: new_.ms });
    return isSlow ? 'both' : isUnknown ? 'old' : undefined;
  }

  /** Whether a field differs, but noise was learned from fewer than LEARNED_MESSAGES messages. Call it after the last message. */
  get isUncertain(): boolean {
    this.#compareLearned();
    const kinds = this.#compared < LEARNED_MESSAGES ? this.#tally.kinds(this.#noise) : [];
    return kinds.some(({ example: { what } }) => what === 'header' || what === 'body');
  }

  result(): ResponseComparisonResult {
    this.#compareLearned();
    return {
      compared: this.#compared,
      kinds: this.#tally.kinds(this.#noise),
      furtherMessages: this.#tally.furtherMessages,
      latency: this.latency.differences(),
      noise: this.#noise.paths(),
    };
  }

  #compareLearned(): void {
    const exchanges = this.#learned ?? [];
    this.#learned = undefined;
    for (const exchange of exchanges) this.#compare(exchange);
    this.#repeats = 0;
  }

  /**
   * Compares an exchange. Returns whether its message must be sent again: at the 1st, 2nd, 4th, 8th … difference of a kind
   * in a header or field, until MAX_REPEATS is reached.
   */
  #compare(exchange: ComparedExchange): boolean {
    const { old, new: new_ } = exchange.responses;
    const context = { ...contextOf(exchange), noise: this.#noise, ignores: this.#ignores };
    const counts = this.#tally.add(compareResponses(old, new_, context), exchange.entry);
    return counts.some((count) => Number.isInteger(Math.log2(count))) && this.#repeats++ < MAX_REPEATS;
  }
}

function contextOf({ entry, body, now }: ComparedExchange): ComparedContext {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return { entry, isEchoed: (text) => bytes.includes(text), now };
}
