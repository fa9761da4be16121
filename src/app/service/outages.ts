import type { Clock } from '../../clock.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { LaneId } from '../../queue/queue.ts';

/** A webhook of a destination that takes nothing. */
export interface Outage extends LaneId {
  /** As it is shown. */
  readonly url: string;
  /** The first failure. Ms since the epoch. */
  readonly since: number;
  /** What the last attempt came to. */
  readonly last: AttemptRecord;
}

interface OutagesOptions {
  readonly clock: Clock;
  readonly onDown: (outage: Outage) => void;
  readonly onBack: (outage: Outage) => void;
}

interface Failing {
  failures: number;
  outage: Outage;
  isDown: boolean;
}

/** Failures in a row that make a webhook count as down: one alone is a restart or an overload. */
const FAILURES = 3;
/** A webhook that comes and goes is reported once in this time. */
const QUIET_MS = 60_000;

/** Reports a webhook that goes down and comes back, once each, from the attempts that are made. */
export class Outages {
  readonly #options: OutagesOptions;
  readonly #failing = new Map<string, Failing>();
  readonly #reportedAt = new Map<string, number>();

  constructor(options: OutagesOptions) {
    this.#options = options;
  }

  see({ source, destination }: LaneId, attempt: AttemptRecord): void {
    const { url, result } = attempt;
    const key = JSON.stringify([source, destination, url]);
    const failing = this.#failing.get(key);
    if (result === 'delivered') {
      this.#failing.delete(key);
      if (failing?.isDown) this.#options.onBack(failing.outage);
    } else if (isFailure(attempt)) {
      const since = failing?.outage.since ?? attempt.at;
      const outage = { source, destination, url, since, last: attempt };
      this.#fail(key, { failures: (failing?.failures ?? 0) + 1, outage, isDown: failing?.isDown ?? false });
    }
  }

  #fail(key: string, failing: Failing): void {
    this.#failing.set(key, failing);
    const now = this.#options.clock.now();
    const reportedAt = this.#reportedAt.get(key) ?? -Infinity;
    if (failing.isDown || failing.failures < FAILURES || now - reportedAt < QUIET_MS) return;
    failing.isDown = true;
    this.#reportedAt.set(key, now);
    this.#options.onDown(failing.outage);
  }
}

/** Whether an attempt says that the webhook is down. A 4xx or a redirect is about the message or the address, an abort is our own doing. */
function isFailure({ error }: AttemptRecord): boolean {
  return error !== 'http-4xx' && error !== 'redirect' && error !== 'aborted';
}
