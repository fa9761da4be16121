import { systemClock, type Clock } from '../clock.ts';
import type { ReceivedRequest, SignatureVerdict } from '../receiver/received-request.ts';
import { countText } from './expectation-result.ts';

export interface ExpectationOptions {
  /**
   * Number of counted requests that meets the expectation and ends the wait. If undefined, at least one request must arrive,
   * and every request must be `counted`.
   */
  readonly count?: number | undefined;
  /**
   * Ends the wait after this time without a request, in ms. The time starts to run with the first request, and does not run
   * while a request is open.
   */
  readonly untilIdleMs?: number | undefined;
  /** Ends the wait at this time after its start, in ms. */
  readonly withinMs?: number | undefined;
  /** Whether signatures are verified. If so, the text of `missing` asks for a `valid POST`. @default false */
  readonly signed?: boolean;
  readonly clock?: Clock;
}

/**
 * Numbers of requests. A request is `counted` if it is a POST whose signature is valid, or unchecked because there is no
 * secret.
 */
export interface Tally {
  readonly requests: number;
  readonly counted: number;
  readonly notPost: number;
  readonly verdicts: Readonly<Record<SignatureVerdict, number>>;
}

const NOTHING_CAME: Tally = {
  requests: 0,
  counted: 0,
  notPost: 0,
  verdicts: { valid: 0, invalid: 0, unsigned: 0, unchecked: 0 },
};

/** Counts the requests of a receiver, and ends the wait when the count is reached or the time is over. */
export class Expectation {
  readonly #options: ExpectationOptions;
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #tally = NOTHING_CAME;
  #cancelWithin: (() => void) | undefined;
  #cancelIdle: (() => void) | undefined;
  #isBusy = false;

  constructor(options: ExpectationOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    if (options.withinMs !== undefined) this.#cancelWithin = this.#clock.after(options.withinMs, this.#end);
  }

  /** Aborts when the wait ends; never if none of the options `count`, `untilIdleMs` and `withinMs` is set. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get tally(): Tally {
    return this.#tally;
  }

  /** The tally in words: `3 requests: 2 valid, 1 invalid`. */
  get described(): string {
    const { requests, notPost, verdicts } = this.#tally;
    if (requests === 0) return 'no request';
    const kinds = Object.entries({ ...verdicts, 'not POST': notPost })
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => `${count} ${kind}`);
    return `${countText(requests, 'request')}: ${kinds.join(', ')}`;
  }

  /** Whether none of the options `count`, `untilIdleMs` and `withinMs` is set, so that only the caller can end the wait. */
  get isPlain(): boolean {
    const { count, untilIdleMs, withinMs } = this.#options;
    return count === undefined && untilIdleMs === undefined && withinMs === undefined;
  }

  add(request: ReceivedRequest): void {
    this.#tally = added(this.#tally, request);
    const { count } = this.#options;
    if (count !== undefined && this.#tally.counted >= count) this.#end();
    this.#restartIdle();
  }

  /** Sets whether a request is being received, held or forwarded. During that time the receiver does not count as idle. */
  busy(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#restartIdle();
  }

  #restartIdle(): void {
    const { untilIdleMs } = this.#options;
    this.#cancelIdle?.();
    if (untilIdleMs === undefined || this.#isBusy || this.#tally.requests === 0) return;
    this.#cancelIdle = this.#clock.after(untilIdleMs, this.#end);
  }

  /** Returns a sentence about the expected and the received requests. Undefined if the expectation is met. */
  missing(): string | undefined {
    const { requests, counted } = this.#tally;
    const { count, signed } = this.#options;
    const isMet = count === undefined ? requests > 0 && counted === requests : counted >= count;
    if (isMet) return undefined;
    const good = signed === true ? 'valid POST' : 'POST';
    const expected =
      count === undefined ? `every request to be a ${good}, and at least one` : countText(count, good);
    return `Expected ${expected}, got ${this.described}`;
  }

  #end = (): void => this.#over.abort();

  /** Cancels the timers of `withinMs` and `untilIdleMs`. */
  close(): void {
    this.#cancelWithin?.();
    this.#cancelIdle?.();
  }
}

function added(tally: Tally, { method, verdict }: ReceivedRequest): Tally {
  const isPost = method === 'POST';
  const counts = isPost && (verdict === 'valid' || verdict === 'unchecked');
  return {
    requests: tally.requests + 1,
    counted: tally.counted + (counts ? 1 : 0),
    notPost: tally.notPost + (isPost ? 0 : 1),
    verdicts: isPost ? { ...tally.verdicts, [verdict]: tally.verdicts[verdict] + 1 } : tally.verdicts,
  };
}
