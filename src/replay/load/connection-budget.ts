/** Connections that may be opened at once, and then in each ms while the sender is idle. */
const [BURST, PER_MS] = [64, 2];
/** Time without a response after which messages wait for the receiver, and not for the sender. */
const SILENT_MS = 100;

/**
 * Whether a message that is due can be sent: on an open connection, or on a new one. Otherwise it waits for the receiver, which
 * has all connections without responding, or for the sender, which has not read the responses yet.
 */
export type ConnectionVerdict = 'send' | 'wait-for-receiver' | 'wait-for-sender';

/**
 * Limits new connections to the free time of the sender. One costs as much as ten messages on an open one, on both sides, and
 * with hundreds of connections every message costs more. A sender that opened all that it lacks, because it was late for a
 * moment, would never catch up. Times are ms.
 */
export class ConnectionBudget {
  /** The share of its time in which the sender has nothing to do. */
  idleShare = 1;
  readonly #slots: number;
  /** The most messages that were in flight at once: the number of connections. */
  #peak = 0;
  #tokens = BURST;
  #filledAt = 0;
  #settledAt = 0;

  /** @param slots maximum number of connections */
  constructor(slots: number) {
    this.#slots = slots;
  }

  take(inFlight: number, now: number): ConnectionVerdict {
    if (inFlight >= this.#slots) return 'wait-for-receiver';
    if (inFlight < this.#peak) return 'send';
    // Squared, because a sender that is idle for a fifth of the time needs most of it to catch up.
    const more = (now - this.#filledAt) * PER_MS * this.idleShare ** 2;
    this.#tokens = Math.min(BURST, this.#tokens + more);
    this.#filledAt = now;
    if (this.#tokens < 1) return now - this.#settledAt > SILENT_MS ? 'wait-for-receiver' : 'wait-for-sender';
    this.#tokens--;
    this.#peak = inFlight + 1;
    return 'send';
  }

  /** Records a response. */
  settled(now: number): void {
    this.#settledAt = now;
  }
}
