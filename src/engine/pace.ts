import type { Clock } from '../clock.ts';
import type { DeliveryOptions } from './options.ts';
import type { RoundResult } from './round/round-result.ts';

/**
 * How fast a lane starts deliveries. Normally, only the concurrency limits it. A lane is slowed while its destination is
 * down, because its attempts take time from other lanes. It is also slowed when the destination is back or deliveries have
 * piled up, because the receiver then has empty caches and gets the backlogs of all senders. A slowed lane starts
 * `concurrency` deliveries per second, and doubles this number after each successful quarter of a second.
 */
export interface AttemptPace {
  /** Number of consecutive failed rounds of the lane. */
  readonly failures: number;
  /** The current step of a slowed lane. Undefined if the lane is not slowed. */
  readonly ramp: Ramp | undefined;
}

/** One step of a slowed lane. */
interface Ramp {
  readonly beganAt: number;
  /** Number of deliveries that may start per second, evenly spread. */
  readonly perSecond: number;
  /** Number of deliveries that have started in this step. */
  readonly begun: number;
  /** Number of rounds that ended in this step. `well`: delivered or rejected; `ill`: failed. */
  readonly well: number;
  readonly ill: number;
}

export interface AttemptPaceOptions {
  readonly concurrency: number;
  /** Consecutive failures after which the destination counts as down. */
  readonly threshold: number;
  /** Whether to slow down while the destination is down. False if the retry window is too short for deliveries to wait. */
  readonly isPatient: boolean;
}

export function paceOptionsOf({ concurrency, health, retryForMs }: DeliveryOptions): AttemptPaceOptions {
  return { concurrency, threshold: health.failures, isPatient: retryForMs >= PATIENT_MS };
}

export const FULL_SPEED: AttemptPace = { failures: 0, ramp: undefined };

/**
 * Duration of a step in milliseconds. It sends 500 waiting deliveries within 2 seconds. Of 10,000, the busiest second has
 * at most 2.5 times the mean, even if responses take no time.
 */
const STEP_MS = 250;
const SECOND_MS = 1_000;

/** Returns the duration of a step, which must be long enough for one delivery. */
function stepMs(perSecond: number): number {
  return Math.max(STEP_MS, SECOND_MS / perSecond);
}
/** Shortest retry window, in milliseconds, with which deliveries can wait while their lane is slowed. */
const PATIENT_MS = 10 * 60_000;
/** Share of rounds that must succeed before the pace doubles. Less than all, because some fail for unrelated reasons. */
const GROWS_FROM = 1 / 4;
/**
 * Deliveries per second, for each unit of concurrency, above which a lane is no longer slowed, because no receiver
 * responds within a millisecond.
 */
const NO_LIMIT = 1_000;

/** Returns the pace of a lane that starts slowly: `concurrency` deliveries per second in the first step. */
export function slowStart({ concurrency }: AttemptPaceOptions, now: number): AttemptPace {
  return { failures: 0, ramp: stepOf(concurrency, now) };
}

/**
 * Returns the pace at `now`. When a step of a slowed lane has ended, the rounds that ended in it decide the pace of the
 * next one.
 */
export function paceAt(pace: AttemptPace, { concurrency }: AttemptPaceOptions, now: number): AttemptPace {
  const { failures, ramp } = pace;
  if (ramp === undefined || now < ramp.beganAt + stepMs(ramp.perSecond)) return pace;
  const perSecond = nextPerSecond(ramp, concurrency);
  return { failures, ramp: perSecond > concurrency * NO_LIMIT ? undefined : stepOf(perSecond, now) };
}

function nextPerSecond({ perSecond, well, ill }: Ramp, concurrency: number): number {
  if (well === 0) return ill === 0 ? perSecond : concurrency;
  return well >= (well + ill) * GROWS_FROM ? perSecond * 2 : perSecond;
}

/** Returns how many deliveries may start at `now`. They are spread over the step, and the first one may start at once. */
export function allowance({ ramp }: AttemptPace, now: number): number {
  if (ramp === undefined) return Infinity;
  const { beganAt, perSecond, begun } = ramp;
  const ofStep = Math.ceil((perSecond * stepMs(perSecond)) / SECOND_MS);
  return Math.min(Math.floor((perSecond * (now - beganAt)) / SECOND_MS) + 1, ofStep) - begun;
}

/** Returns when the next delivery may start, for a pace that allows none now. */
export function nextAllowedAt({ ramp }: AttemptPace): number {
  if (ramp === undefined) return 0;
  const { beganAt, perSecond, begun } = ramp;
  return beganAt + Math.min((begun * SECOND_MS) / perSecond, stepMs(perSecond));
}

/** Returns the pace after `count` more deliveries have started. */
export function withBegun(pace: AttemptPace, count: number): AttemptPace {
  const { failures, ramp } = pace;
  return ramp === undefined ? pace : { failures, ramp: { ...ramp, begun: ramp.begun + count } };
}

/**
 * Returns the pace after a round. A success after `threshold` failures means that the destination is back: the lane starts
 * slowly again.
 */
export function afterRound(
  pace: AttemptPace,
  isWell: boolean,
  options: AttemptPaceOptions,
  now: number,
): AttemptPace {
  const { failures } = pace;
  if (isWell && failures >= options.threshold) return slowStart(options, now);
  const ended = isWell ? 'well' : 'ill';
  const ramp = pace.ramp && { ...pace.ramp, [ended]: pace.ramp[ended] + 1 };
  if (isWell) return failures === 0 && ramp === undefined ? pace : { failures: 0, ramp };
  if (failures + 1 < options.threshold) return { failures: failures + 1, ramp };
  const { isPatient, concurrency } = options;
  return { failures: failures + 1, ramp: isPatient ? (ramp ?? stepOf(concurrency, now)) : undefined };
}

function stepOf(perSecond: number, beganAt: number): Ramp {
  return { beganAt, perSecond, begun: 0, well: 0, ill: 0 };
}

export class LanePace {
  readonly #options: AttemptPaceOptions;
  readonly #clock: Clock;
  #pace = FULL_SPEED;

  constructor(options: AttemptPaceOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
  }

  /** Returns how many deliveries may start at `now`. */
  allowance(now: number): number {
    this.#pace = paceAt(this.#pace, this.#options, now);
    return allowance(this.#pace, now);
  }

  /** When the next delivery may start, if none may start now. */
  get nextAllowedAt(): number {
    return nextAllowedAt(this.#pace);
  }

  startSlowly(): void {
    this.#pace = slowStart(this.#options, this.#clock.now());
  }

  begun(count: number): void {
    this.#pace = withBegun(this.#pace, count);
  }

  /**
   * Counts a round that has ended. Returns whether the round shows that a destination that was down is back.
   *
   * A rejection counts as a success, because it shows that the receiver is up. Interrupted, broken and lost rounds are not
   * counted, because they say nothing about the receiver.
   */
  ended({ outcome }: RoundResult): boolean {
    const isWell = outcome === 'delivered' || outcome === 'rejected';
    if (!isWell && outcome !== 'open') return false;
    const wasDown = this.#pace.failures >= this.#options.threshold;
    this.#pace = afterRound(this.#pace, isWell, this.#options, this.#clock.now());
    return isWell && wasDown;
  }
}
