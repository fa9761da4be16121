import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** When the next message may go. Made for one replay; holds where its schedule stands. */
export interface ReplayPace {
  /**
   * Takes the next place in the schedule and says how many ms from now it is; 0: at once. `recordedAt` is when the
   * message happened, in ms since the epoch.
   */
  next(recordedAt?: number): number;
}

export interface ReplayPaceOptions {
  readonly clock: Clock;
  /** Ms between two messages (`readRate`). */
  readonly intervalMs?: number | undefined;
  /** How many times faster than recorded (`readSpeed`). */
  readonly speed?: number | undefined;
}

/** Makes the pace of a replay. With both a rate and a speed, a message goes when both allow it. */
export function createPace({ clock, intervalMs, speed }: ReplayPaceOptions): ReplayPace {
  const paces: ReplayPace[] = [];
  if (intervalMs !== undefined) paces.push(new SteadyPace(clock, intervalMs));
  if (speed !== undefined) paces.push(new RecordedPace(clock, speed));
  const [only] = paces;
  if (only === undefined) return { next: () => 0 };
  if (paces.length === 1) return only;
  return { next: (recordedAt) => Math.max(...paces.map((pace) => pace.next(recordedAt))) };
}

/** The most lateness that is made up for, as timers fire late and in whole milliseconds. More (a stall) is not. */
const CATCH_UP_MS = 100;

/** One message every `intervalMs`, without a burst after a stall. */
class SteadyPace implements ReplayPace {
  readonly #clock: Clock;
  readonly #intervalMs: number;
  #dueAt = -Infinity;

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#intervalMs = intervalMs;
  }

  next(): number {
    const now = this.#clock.now();
    const earliest = this.#dueAt === -Infinity ? now : now - CATCH_UP_MS;
    this.#dueAt = Math.max(this.#dueAt + this.#intervalMs, earliest);
    return Math.max(0, this.#dueAt - now);
  }
}

/** The recorded gaps, divided by `speed`, from the first message on. A message recorded earlier than the one before goes at once. */
class RecordedPace implements ReplayPace {
  readonly #clock: Clock;
  readonly #speed: number;
  #dueAt = 0;
  #latest: number | undefined;

  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#speed = speed;
  }

  next(recordedAt?: number): number {
    if (recordedAt === undefined) return 0;
    const now = this.#clock.now();
    this.#dueAt =
      this.#latest === undefined ? now : this.#dueAt + Math.max(0, recordedAt - this.#latest) / this.#speed;
    this.#latest = Math.max(recordedAt, this.#latest ?? recordedAt);
    return Math.max(0, this.#dueAt - now);
  }
}

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

/** Parses `100/s`, `30/m`, `0.5/s` to the ms between two messages. Throws ConfigError. */
export function readRate(text: string): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?)\/([smh])$/.exec(text.trim()) ?? [];
  const intervalMs = (UNITS_MS[unit ?? ''] ?? Number.NaN) / Number(count);
  if (Number.isFinite(intervalMs)) return intervalMs;
  throw new ConfigError(`Expected \`--rate\` to be messages per time, got ${printable(text, 40)}`, {
    key: 'rate',
    origin: '--rate',
    hint: 'write 100/s, 30/m or 500/h',
  });
}

/** Parses `1x`, `10x`, `0.5x` to a factor. Throws ConfigError. */
export function readSpeed(text: string): number {
  const [, factor] = /^(\d+(?:\.\d+)?)x$/.exec(text.trim()) ?? [];
  if (Number(factor) > 0) return Number(factor);
  throw new ConfigError(`Expected \`--speed\` to be a factor, got ${printable(text, 40)}`, {
    key: 'speed',
    origin: '--speed',
    hint: 'write 1x for the recorded gaps, 10x for a tenth of them',
  });
}
