import { elapsedMs, sleep, systemClock } from '../../../../clock.ts';
import type { Io } from '../../../io.ts';
import type { Arrivals } from './load-result.ts';
import { readReceived } from './received-count.ts';

/** Ratio of the pause after a reading to the time of the reading, so that a slow command does not slow the sender. */
const PAUSE_FACTOR = 9;
/** Time between two readings after the load. */
const PAUSE_MS = 200;
/** Time without growth after which no more messages are expected, and the maximum time to wait after the load. */
const [SETTLED_MS, LONGEST_MS] = [5_000, 30_000];

/**
 * Follows the number that `--received` reads during a load. If it falls, the receiver was restarted and counts from 0 again.
 * How many messages arrived between the last reading and the restart is unknown.
 */
export class ArrivalCounter {
  /** Whether the number fell, or grew too little after a failed reading, so that messages may have arrived uncounted. */
  isUncertain = false;
  readonly #source: string;
  readonly #io: Io;
  #last = 0;
  #received = 0;
  /** Number of messages acknowledged up to the last ended second of the load, and up to the start of the last reading. */
  #acknowledged = 0;
  #acknowledgedAtLast = 0;
  /** Number of acknowledged messages of which any may have arrived uncounted. */
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

  /** Counts the messages acknowledged in one second of the load. Reads the number, unless a reading or a pause goes on. */
  second(acknowledged: number): void {
    this.#acknowledged += acknowledged;
    if (this.#reading === undefined && elapsedMs() >= this.#nextAt) this.#reading = this.#readMeanwhile();
  }

  /**
   * Reads the number until it has grown by `acknowledged` (all acknowledged messages), or has not grown for SETTLED_MS, at most
   * for LONGEST_MS: a receiver can store a message after acknowledging it. Throws InputError if the number cannot be read.
   */
  async finish(acknowledged: number): Promise<Arrivals> {
    await this.#reading;
    // The seconds do not include messages of the warm-up, which may also have arrived uncounted.
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
