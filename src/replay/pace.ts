import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** The schedule of one replay: says when the next message may be sent. */
export interface ReplayPace {
  /**
   * Reserves the next slot of the schedule, and returns the ms until then; 0 means now. `recordedAt` is the timestamp of
   * the message, in ms since the epoch.
   */
  next(recordedAt?: number): number;
}

export interface ReplayPaceOptions {
  readonly clock: Clock;
  /** Minimum ms between two messages, as parsed by `readRate`. Undefined for no limit on the rate. */
  readonly intervalMs?: number | undefined;
  /** Factor by which to shorten the recorded gaps, as parsed by `readSpeed`. Undefined to ignore the recorded gaps. */
  readonly speed?: number | undefined;
}

/** Makes the pace of a replay. With both a rate and a speed, a message is sent when both allow it. */
export function createPace({ clock, intervalMs, speed }: ReplayPaceOptions): ReplayPace {
  const paces: ReplayPace[] = [];
  if (intervalMs !== undefined) paces.push(new SteadyPace(clock, intervalMs));
  if (speed !== undefined) paces.push(new RecordedPace(clock, speed));
  return { next: (recordedAt) => paces.reduce((waitMs, pace) => Math.max(waitMs, pace.next(recordedAt)), 0) };
}

/**
 * Maximum delay to make up for by sending faster, because timers fire late and in whole milliseconds. The rest of a longer
 * stall is not made up for.
 */
const CATCH_UP_MS = 100;

/** Sends one message every `intervalMs`, without a burst after a stall. */
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

/** Keeps the recorded gaps, divided by `speed`. An older message than its predecessor follows without a gap. */
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
  throw new ConfigError(
    `Expected \`--rate\` to be messages per second, minute or hour, got ${printable(text, 40)}`,
    {
      key: 'rate',
      origin: '--rate',
      hint: 'write 100/s, 30/m or 500/h',
    },
  );
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
