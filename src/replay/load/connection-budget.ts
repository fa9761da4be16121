/** Token bucket for new connections: its size, and the tokens that it gains per ms if the sender is completely idle. */
const [BURST, PER_MS] = [64, 2];
/** Share of idle time below which the sender counts as busy, and the factor that then reduces its connections. */
const [BUSY_BELOW, BUSY_FACTOR] = [0.1, 0.8];
/** Time without any response or error after which a wait is blamed on the receiver, not on the sender. */
const SILENT_MS = 100;

/**
 * Whether a due message can be sent now. `wait-for-receiver`: the receiver holds the maximum number of connections, or has
 * stopped responding to a sender that has time. `wait-for-sender`: the sender must not open another connection, or not yet.
 */
export type ConnectionVerdict = 'send' | 'wait-for-receiver' | 'wait-for-sender';

/** The connections that a sender can have. */
export interface ConnectionSlots {
  readonly count: number;
  /** Whether a limit of the sender's process sets the count, and not the user or the number of local ports. */
  readonly isOwnLimit: boolean;
}

/**
 * Limits new connections by the idle time of the sender. A new connection costs both sides as much as ten messages on an
 * open connection, and hundreds of connections make every message more expensive. A sender that opened a connection for
 * each message delayed by a short stall would never catch up. A busy sender reduces its connections gradually, but not
 * below 64. Times are in ms.
 */
export class ConnectionBudget {
  readonly #slots: ConnectionSlots;
  /** Share of recent time in which the sender was idle, from 0 to 1. */
  #idleShare = 1;
  /** Number of messages that can be in flight without opening another connection. */
  #used = 0;
  #tokens = BURST;
  #filledAt = 0;
  #settledAt = 0;

  constructor(slots: ConnectionSlots) {
    this.#slots = slots;
  }

  /** Records the share of recent time in which the sender was idle, and reduces the connections of a busy sender. */
  measured(idleShare: number): void {
    this.#idleShare = idleShare;
    if (idleShare < BUSY_BELOW) this.#used = Math.max(Math.min(this.#used, BURST), this.#used * BUSY_FACTOR);
  }

  take(inFlight: number, now: number): ConnectionVerdict {
    const { count, isOwnLimit } = this.#slots;
    if (inFlight >= count) return isOwnLimit ? 'wait-for-sender' : 'wait-for-receiver';
    if (inFlight < this.#used) return 'send';
    // Squares the share, because a sender that is idle for only a fifth of the time needs most of that fifth to catch up.
    const more = (now - this.#filledAt) * PER_MS * this.#idleShare ** 2;
    this.#tokens = Math.min(BURST, this.#tokens + more);
    this.#filledAt = now;
    if (this.#tokens < 1) {
      const isSilent = now - this.#settledAt > SILENT_MS && this.#idleShare >= BUSY_BELOW;
      return isSilent ? 'wait-for-receiver' : 'wait-for-sender';
    }
    this.#tokens--;
    this.#used = inFlight + 1;
    return 'send';
  }

  /** Records that a message ended at `now`, with a response or an error. */
  settled(now: number): void {
    this.#settledAt = now;
  }
}
