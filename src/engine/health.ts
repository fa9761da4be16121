import type { Clock } from '../clock.ts';
import type { AttemptResult } from './round/attempt-result.ts';

/** How a webhook has been doing. `failures` are those in a row while it counted as healthy. */
export interface Health {
  readonly failures: number;
  /** Pauses in a row; 0 is healthy. */
  readonly pauses: number;
  readonly pausedUntil: number;
}

export const HEALTHY: Health = { failures: 0, pauses: 0, pausedUntil: 0 };

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 5 * 60_000;

export interface Observation {
  readonly symptom: Symptom;
  /** The one attempt that was to show whether an unhealthy webhook is back. */
  readonly isTrial: boolean;
  readonly now: number;
}

/**
 * The next state. Of an unhealthy webhook only a trial's failure lengthens the pause: the attempts that were in flight
 * when it broke down all fail too, and say nothing new.
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

/** What an attempt says about a webhook's health: `none` is nothing. */
type Symptom = 'well' | 'ill' | 'none';

/** A 4xx or a redirect is about the message or the address, and a blocked address or an abort is our own doing. */
export function symptomOf(result: AttemptResult): Symptom {
  if (result.result === 'delivered') return 'well';
  switch (result.error) {
    case 'timeout':
    case 'refused':
    case 'dns':
    case 'reset':
    case 'protocol':
    case 'tls-self-signed':
    case 'tls-expired':
    case 'tls-hostname':
    case 'tls-untrusted':
    case 'tls':
    case 'http-5xx':
      return 'ill';
    case 'redirect':
    case 'http-4xx':
    case 'blocked-address':
    case 'aborted':
      return 'none';
    default:
      return result.error satisfies never;
  }
}

/** The health of the webhooks of one lane, and which of them are on trial. */
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

  /** Whether to skip a webhook: only while another one is healthy. With none healthy, all of them are asked. */
  isSkipped(key: string): boolean {
    const health = this.#states.get(key) ?? HEALTHY;
    if (health.pauses === 0) return false;
    if (!this.#trials.has(key) && this.#clock.now() >= health.pausedUntil) return false;
    for (const other of this.#states.values()) if (other.pauses === 0) return true;
    return false;
  }

  /** Called before an attempt. Returns whether it is a trial, which `end` wants to know. */
  begin(key: string): boolean {
    const health = this.#states.get(key) ?? HEALTHY;
    if (health.pauses === 0 || this.#trials.has(key) || this.#clock.now() < health.pausedUntil) return false;
    this.#trials.add(key);
    return true;
  }

  /** Called after every attempt that was begun, also one that came to nothing (`none`). */
  end(key: string, { symptom, isTrial }: { symptom: Symptom; isTrial: boolean }): void {
    if (isTrial) this.#trials.delete(key);
    const health = this.#states.get(key) ?? HEALTHY;
    if (symptom === 'none' || (symptom === 'well' && health === HEALTHY)) return;
    const observation = { symptom, isTrial, now: this.#clock.now() };
    this.#states.set(key, healthAfter(health, observation, this.#threshold));
  }
}
