import { elapsedMs, sleep, systemClock } from '../../../../clock.ts';
import type { Io } from '../../../io.ts';
import type { Arrivals } from './load-result.ts';
import { readReceived } from './received-count.ts';

/** How many times longer than a reading the pause after it is, so that a slow command does not slow the sender. */
const PAUSE_FACTOR = 9;
/** Time between two readings at the end. */
const PAUSE_MS = 200;
/** Time without growth at the end after which no more messages are expected, and the longest time to wait for them. */
const [SETTLED_MS, LONGEST_MS] = [5_000, 30_000];

/**
 * Follows the number of `--received` during a load. A number that falls has started again at 0, because the receiver was
 * restarted. How many messages arrived between the last reading and the restart is unknown.
 */
export class ArrivalCounter {
  /** Whether the number fell or could not be read during the load, so that messages may have arrived unseen. */
  isUncertain = false;
  readonly #source: string;
  readonly #io: Io;
  #last = 0;
  #received = 0;
  /** Number of messages acknowledged in the seconds of the load so far, and when the last reading began. */
  #acknowledged = 0;
  #acknowledgedAtLast = 0;
  /** Number of messages that were acknowledged while the number fell, and of which any may have arrived. */
  #unknown = 0;
  #hasFailed = false;
  #nextAt = 0;
  #reading: Promise<void> | undefined;

  private constructor(source: string, io: Io) {
    [this.#source, this.#io] = [source, io];
  }

  /** Reads the number before the load. Throws InputError if it cannot be read. */
  static async open(source: string, io: Io): Promise<ArrivalCounter> {
    const counter = new ArrivalCounter(source, io);
    counter.#last = await readReceived(source, io);
    return counter;
  }

  /** Reads the number during the load, after a second in which this many messages were acknowledged. */
  second(acknowledged: number): void {
    this.#acknowledged += acknowledged;
    if (this.#reading === undefined && elapsedMs() >= this.#nextAt) this.#reading = this.#readMeanwhile();
  }

  /**
   * Reads the number until it has grown by `acknowledged`, the number of all acknowledged messages, or has not grown for
   * SETTLED_MS, because a receiver can store a message after acknowledging it. Throws InputError if it cannot be read.
   */
  async finish(acknowledged: number): Promise<Arrivals> {
    await this.#reading;
    // The seconds do not include the warm-up. Its messages may have been acknowledged while the number fell.
    this.#unknown += acknowledged - this.#acknowledged;
    const startedAt = elapsedMs();
    for (let [grownAt, before] = [startedAt, -1]; ; before = this.#received) {
      await this.#read();
      const now = elapsedMs();
      if (this.#received !== before) grownAt = now;
      const isSettled = this.#received >= acknowledged || now - grownAt >= SETTLED_MS;
      if (isSettled || now - startedAt > LONGEST_MS || this.#io.signal.aborted) break;
      await sleep(systemClock, PAUSE_MS, this.#io.signal);
    }
    const missing = Math.max(0, acknowledged - this.#received);
    const lost = Math.max(0, missing - (this.isUncertain ? this.#unknown : 0));
    return { received: this.#received, lost: lost === 0 && missing > 0 ? null : lost };
  }

  async #readMeanwhile(): Promise<void> {
    const startedAt = elapsedMs();
    try {
      await this.#read();
    } catch {
      this.#hasFailed = true;
    }
    this.#nextAt = elapsedMs() + PAUSE_FACTOR * (elapsedMs() - startedAt);
    this.#reading = undefined;
  }

  async #read(): Promise<void> {
    const acknowledged = this.#acknowledged;
    const count = await readReceived(this.#source, this.#io);
    const hasFallen = count < this.#last;
    const grown = hasFallen ? count : count - this.#last;
    const due = this.#acknowledged - this.#acknowledgedAtLast;
    if (hasFallen || (this.#hasFailed && grown < due)) {
      this.isUncertain = true;
      this.#unknown += due;
    }
    this.#received += grown;
    [this.#last, this.#acknowledgedAtLast, this.#hasFailed] = [count, acknowledged, false];
  }
}
