/** Token bucket for new connections: its size, and the tokens that it gains per ms while the sender is idle. */
const [BURST, PER_MS] = [64, 2];
/** Share of idle time below which the sender counts as busy, and the factor by which it then reduces its connections. */
const [BUSY_BELOW, BUSY_FACTOR] = [0.1, 0.8];
/** Time without a response after which a wait is blamed on the receiver, not on the sender. */
const SILENT_MS = 100;

/**
 * Whether a message that is due can be sent now, or waits for the receiver, which does not respond on the open
 * connections, or for the sender, which is too busy to open another one.
 */
export type ConnectionVerdict = 'send' | 'wait-for-receiver' | 'wait-for-sender';

/**
 * Opens new connections only as far as the sender has idle time. A new connection costs as much as ten messages on an open
 * one, on both sides, and with hundreds of connections every message costs more. A sender that opened a connection for
 * each late message after a short stall would never catch up. A busy sender uses fewer and fewer connections, but at least
 * the first 64. Times are in ms.
 */
export class ConnectionBudget {
  readonly #slots: number;
  /** Share of its recent time in which the sender was idle. */
  #idleShare = 1;
  /** Number of messages that may be in flight without opening another connection. */
  #used = 0;
  #tokens = BURST;
  #filledAt = 0;
  #settledAt = 0;

  /** @param slots maximum number of connections */
  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Records the share of recent time in which the sender was idle. */
  measured(idleShare: number): void {
    this.#idleShare = idleShare;
    if (idleShare < BUSY_BELOW) this.#used = Math.max(Math.min(this.#used, BURST), this.#used * BUSY_FACTOR);
  }

  take(inFlight: number, now: number): ConnectionVerdict {
    if (inFlight >= this.#slots) return 'wait-for-receiver';
    if (inFlight < this.#used) return 'send';
    // Squares the share, because a sender that is idle for only a fifth of its time needs most of it to catch up.
    const more = (now - this.#filledAt) * PER_MS * this.#idleShare ** 2;
    this.#tokens = Math.min(BURST, this.#tokens + more);
    this.#filledAt = now;
    if (this.#tokens < 1) return now - this.#settledAt > SILENT_MS ? 'wait-for-receiver' : 'wait-for-sender';
    this.#tokens--;
    this.#used = inFlight + 1;
    return 'send';
  }

  /** Records the time of a response. */
  settled(now: number): void {
    this.#settledAt = now;
  }
}
