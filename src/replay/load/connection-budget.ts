/** Connections that may be opened at once, then in each ms, and for each response. */
const [BURST, PER_MS, PER_RESPONSE] = [64, 2, 0.1];
/** Time without a response after which messages wait for the receiver, and not for the sender. */
const SILENT_MS = 100;

/**
 * Whether a message that is due can be sent: on an open connection, or on a new one. Otherwise it waits for the receiver, which
 * has all connections without responding, or for the sender, which has not read the responses yet.
 */
export type ConnectionVerdict = 'send' | 'wait-for-receiver' | 'wait-for-sender';

/**
 * Limits new connections. One costs as much as ten messages on an open one, on both sides, and a receiver that is busy with
 * accepting connections does not respond on them. So a sender that opened all that it lacks, because it was late for a
 * moment, would never catch up: with hundreds of connections it sends half as many messages as with 64. A sender that is busy
 * all the time opens none while responses come. Times are ms.
 */
export class ConnectionBudget {
  /** Whether the sender has no time left, so that more connections would not help. */
  isBusy = false;
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
    const isSilent = now - this.#settledAt > SILENT_MS;
    if (isSilent || !this.isBusy) {
      this.#tokens = Math.min(BURST, this.#tokens + (now - this.#filledAt) * PER_MS);
    }
    this.#filledAt = now;
    if (this.#tokens < 1) return isSilent ? 'wait-for-receiver' : 'wait-for-sender';
    this.#tokens--;
    this.#peak = inFlight + 1;
    return 'send';
  }

  /** Records a response. */
  settled(now: number): void {
    this.#settledAt = now;
    if (!this.isBusy) this.#tokens = Math.min(BURST, this.#tokens + PER_RESPONSE);
  }
}
