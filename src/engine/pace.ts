import type { Clock } from '../clock.ts';
import type { DeliveryOptions } from './options.ts';
import type { RoundResult } from './round/round-result.ts';

/**
 * How fast a lane goes. As fast as its concurrency lets it, but for trouble and the time after it: a receiver that has
 * just come back, or that waited for us, has caches to fill and a backlog from every sender to take, and attempts at one
 * that is down take time from the other lanes. The deliveries begun in a second are then as many as the lane's
 * concurrency, and after the first success twice as many with each second that goes well.
 */
export interface AttemptPace {
  /** Rounds in a row that could have been taken and were not. */
  readonly failures: number;
  /** Undefined: nothing holds the lane back. */
  readonly ramp: Ramp | undefined;
}

/** One second of a slow start. */
interface Ramp {
  readonly beganAt: number;
  /** Deliveries that may be begun in it, evenly. */
  readonly perSecond: number;
  readonly begun: number;
  /** Rounds that have ended in it: delivered or rejected, and the others. */
  readonly well: number;
  readonly ill: number;
}

export interface AttemptPaceOptions {
  readonly concurrency: number;
  /** Failures in a row that mean that the destination is down. */
  readonly threshold: number;
  /** Whether to hold back while it is down: not in a retry window that is too short to wait for one's turn. */
  readonly isPatient: boolean;
}

export function paceOptionsOf({ concurrency, health, retryForMs }: DeliveryOptions): AttemptPaceOptions {
  return { concurrency, threshold: health.failures, isPatient: retryForMs >= PATIENT_MS };
}

export const FULL_SPEED: AttemptPace = { failures: 0, ramp: undefined };

const STEP_MS = 1_000;
/** The retry window that leaves time to wait for one's turn. */
const PATIENT_MS = 10 * 60_000;
/** The share of a step's rounds that has to go well for the next step to be faster: some may be rejected for unrelated reasons. */
const GROWS_FROM = 1 / 4;
/** A limit of this many a second per concurrent delivery is no limit: no receiver responds within a millisecond. */
const NO_LIMIT = 1_000;

/** The pace of a lane that starts slowly. */
export function slowStart({ concurrency }: AttemptPaceOptions, now: number): AttemptPace {
  return { failures: 0, ramp: stepOf(concurrency, now) };
}

/** The pace at `now`: a second that is over decides the next one. */
export function paceAt(pace: AttemptPace, { concurrency }: AttemptPaceOptions, now: number): AttemptPace {
  const { failures, ramp } = pace;
  if (ramp === undefined || now < ramp.beganAt + STEP_MS) return pace;
  const perSecond = nextPerSecond(ramp, concurrency);
  return { failures, ramp: perSecond > concurrency * NO_LIMIT ? undefined : stepOf(perSecond, now) };
}

function nextPerSecond({ perSecond, well, ill }: Ramp, concurrency: number): number {
  if (well === 0) return ill === 0 ? perSecond : concurrency;
  return well >= (well + ill) * GROWS_FROM ? perSecond * 2 : perSecond;
}

/** How many deliveries may be begun at `now`: the first of a second at once. */
export function allowance({ ramp }: AttemptPace, now: number): number {
  if (ramp === undefined) return Infinity;
  const { beganAt, perSecond, begun } = ramp;
  return Math.min(Math.floor((perSecond * (now - beganAt)) / STEP_MS) + 1, perSecond) - begun;
}

/** When the next delivery may be begun, of a pace that allows none. */
export function nextAllowedAt({ ramp }: AttemptPace): number {
  if (ramp === undefined) return 0;
  const { beganAt, perSecond, begun } = ramp;
  return beganAt + Math.min((begun * STEP_MS) / perSecond, STEP_MS);
}

/** The pace after `count` more deliveries have begun. */
export function withBegun(pace: AttemptPace, count: number): AttemptPace {
  const { failures, ramp } = pace;
  return ramp === undefined ? pace : { failures, ramp: { ...ramp, begun: ramp.begun + count } };
}

/** The pace after a round. The first that goes well after many that did not: the destination is back. */
export function afterRound(
  pace: AttemptPace,
  isWell: boolean,
  options: AttemptPaceOptions,
  now: number,
): AttemptPace {
  const { failures } = pace;
  if (isWell && failures >= options.threshold) return slowStart(options, now);
  const ramp = pace.ramp && counted(pace.ramp, isWell);
  if (isWell) return failures === 0 && ramp === undefined ? pace : { failures: 0, ramp };
  if (failures + 1 < options.threshold) return { failures: failures + 1, ramp };
  const { isPatient, concurrency } = options;
  return { failures: failures + 1, ramp: isPatient ? (ramp ?? stepOf(concurrency, now)) : undefined };
}

function counted(ramp: Ramp, isWell: boolean): Ramp {
  return isWell ? { ...ramp, well: ramp.well + 1 } : { ...ramp, ill: ramp.ill + 1 };
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

  /** How many deliveries may be begun at `now`. */
  allowance(now: number): number {
    this.#pace = paceAt(this.#pace, this.#options, now);
    return allowance(this.#pace, now);
  }

  /** When the next delivery may be begun, if none may be now. */
  get nextAllowedAt(): number {
    return nextAllowedAt(this.#pace);
  }

  startSlowly(): void {
    this.#pace = slowStart(this.#options, this.#clock.now());
  }

  begun(count: number): void {
    this.#pace = withBegun(this.#pace, count);
  }

  /** A receiver that rejects is there; what we broke off, or ourselves broke, says nothing of it. */
  ended({ outcome }: RoundResult): void {
    const isWell = outcome === 'delivered' || outcome === 'rejected';
    if (!isWell && outcome !== 'open') return;
    this.#pace = afterRound(this.#pace, isWell, this.#options, this.#clock.now());
  }
}
