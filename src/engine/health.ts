import type { Clock } from '../clock.ts';
import { NETWORK_ERRORS } from '../transport/transport.ts';
import type { Destination } from './destination.ts';
import type { AttemptResult } from './round/attempt-result.ts';

/** The health of a webhook. `failures` counts the consecutive failures before the first pause. */
export interface Health {
  readonly failures: number;
  /** Number of pauses since the webhook was last healthy. 0 means healthy. */
  readonly pauses: number;
  readonly pausedUntil: number;
}

export const HEALTHY: Health = { failures: 0, pauses: 0, pausedUntil: 0 };

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

export interface Observation {
  readonly symptom: Symptom;
  /** Whether the attempt was a trial, which tests whether an unhealthy webhook works again. */
  readonly isTrial: boolean;
  readonly now: number;
}

/**
 * Returns the health of a webhook after an attempt. The pause of an unhealthy webhook grows only when its trial fails: the
 * other attempts were in flight when the webhook failed, so their failures say nothing new.
 */
export function healthAfter(
  health: Health,
  { symptom, isTrial, now }: Observation,
  threshold: number,
): Health {
  if (symptom === 'none') return health;
  if (symptom === 'well') return HEALTHY;
  if (health.pauses > 0) return isTrial ? paused(health, now) : health;
  const failures = health.failures + 1;
  return failures >= threshold ? paused({ ...health, failures }, now) : { ...health, failures };
}

function paused({ failures, pauses }: Health, now: number): Health {
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** pauses, LONGEST_PAUSE_MS);
  return { failures, pauses: pauses + 1, pausedUntil: now + pauseMs };
}

/** The effect of an attempt on a webhook's health. `none` if there is no effect. */
type Symptom = 'well' | 'ill' | 'none';

/**
 * Returns the symptom that an attempt shows: `none` for a 4xx or a redirect, which concern the message or the URL, and for a
 * blocked address or an abort, which this program caused.
 */
export function symptomOf(result: AttemptResult): Symptom {
  if (result.result === 'delivered') return 'well';
  switch (result.error) {
    case 'http-5xx':
      return 'ill';
    case 'redirect':
    case 'http-4xx':
      return 'none';
    default:
      return NETWORK_ERRORS[result.error] === 'local' ? 'none' : 'ill';
  }
}

/** Tracks the health of the webhooks of a lane. A trial is the one attempt that tests a paused webhook. */
export class LaneHealth {
  readonly #threshold: number;
  readonly #clock: Clock;
  readonly #states: Map<string, Health>;
  readonly #trials = new Set<string>();

  constructor(webhookKeys: readonly string[], threshold: number, clock: Clock) {
    this.#threshold = threshold;
    this.#clock = clock;
    this.#states = new Map(webhookKeys.map((key) => [key, HEALTHY]));
  }

  static of({ webhooks, delivery }: Pick<Destination, 'webhooks' | 'delivery'>, clock: Clock): LaneHealth {
    return new LaneHealth(
      webhooks.map(({ key }) => key),
      delivery.health.failures,
      clock,
    );
  }

  /**
   * Whether to skip a webhook: it is paused or on trial, and another webhook is healthy. If none is healthy, none is
   * skipped.
   */
  isSkipped(key: string): boolean {
    const health = this.#states.get(key) ?? HEALTHY;
    if (health.pauses === 0) return false;
    if (!this.#trials.has(key) && this.#clock.now() >= health.pausedUntil) return false;
    for (const other of this.#states.values()) if (other.pauses === 0) return true;
    return false;
  }

  /** Must be called before an attempt. Returns whether the attempt is a trial; the caller passes this to `end`. */
  begin(key: string): boolean {
    const health = this.#states.get(key) ?? HEALTHY;
    if (health.pauses === 0 || this.#trials.has(key) || this.#clock.now() < health.pausedUntil) return false;
    this.#trials.add(key);
    return true;
  }

  /** Must be called after every attempt, also after an attempt without a result (`none`). */
  end(key: string, { symptom, isTrial }: { symptom: Symptom; isTrial: boolean }): void {
    if (isTrial) this.#trials.delete(key);
    const health = this.#states.get(key) ?? HEALTHY;
    if (symptom === 'none' || (symptom === 'well' && health === HEALTHY)) return;
    const observation = { symptom, isTrial, now: this.#clock.now() };
    this.#states.set(key, healthAfter(health, observation, this.#threshold));
  }
}
