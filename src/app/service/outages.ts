import type { Clock } from '../../clock.ts';
import type { AttemptRecord } from '../../attempt-record.ts';
import type { LaneId } from '../../queue/queue.ts';

/** A series of failed attempts at a webhook. */
export interface Outage extends LaneId {
  /** URL of the webhook without secrets. */
  readonly url: string;
  /** Time of the first failed attempt of the outage. Ms since the epoch. */
  readonly since: number;
  /** The most recent of the failed attempts. */
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

/** Consecutive failures after which a webhook counts as down: a single failure can be a restart or an overload. */
const FAILURES = 3;
/** Minimum time between two reports about a flapping webhook. */
const QUIET_MS = 60_000;

/** Detects from attempts when a webhook goes down and when it is back, and reports each once. */
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

/**
 * Whether a failed attempt indicates an outage. A 4xx or a redirect concerns the message or the URL, and an abort is local.
 */
function isFailure({ error }: AttemptRecord): boolean {
  return error !== 'http-4xx' && error !== 'redirect' && error !== 'aborted';
}
