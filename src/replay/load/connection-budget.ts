/** Connections that may be opened at once, and then in each ms while the sender is idle. */
const [BURST, PER_MS] = [64, 2];
/** Share of idle time below which the sender is busy, and the part of its connections that it then uses on. */
const [BUSY_BELOW, BUSY_FACTOR] = [0.1, 0.8];
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
 * moment, would never catch up. A busy sender uses fewer and fewer of them, down to those of the start. Times are ms.
 */
export class ConnectionBudget {
  readonly #slots: number;
  /** The share of its time in which the sender has nothing to do. */
  #idleShare = 1;
  /** Number of messages that may be in flight without another connection. */
  #used = 0;
  #tokens = BURST;
  #filledAt = 0;
  #settledAt = 0;

  /** @param slots maximum number of connections */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Sets the share of its last time in which the sender had nothing to do. */
  measured(idleShare: number): void {
    this.#idleShare = idleShare;
    if (idleShare < BUSY_BELOW) this.#used = Math.max(Math.min(this.#used, BURST), this.#used * BUSY_FACTOR);
  }

  take(inFlight: number, now: number): ConnectionVerdict {
    if (inFlight >= this.#slots) return 'wait-for-receiver';
    if (inFlight < this.#used) return 'send';
    // Squared, because a sender that is idle for a fifth of the time needs most of it to catch up.
    const more = (now - this.#filledAt) * PER_MS * this.#idleShare ** 2;
    this.#tokens = Math.min(BURST, this.#tokens + more);
    this.#filledAt = now;
    if (this.#tokens < 1) return now - this.#settledAt > SILENT_MS ? 'wait-for-receiver' : 'wait-for-sender';
    this.#tokens--;
    this.#used = inFlight + 1;
    return 'send';
  }

  /** Records a response. */
  settled(now: number): void {
    this.#settledAt = now;
  }
}
