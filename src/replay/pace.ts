import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';

/** The schedule of a replay: decides when each message is sent. */
export interface ReplayPace {
  /**
   * Schedules the next message, and returns the ms to wait before sending it. `recordedAt` is the timestamp of the message
   * in ms since the epoch, if it has one.
   */
  next(recordedAt?: number): number;
}

export interface ReplayPaceOptions {
  readonly clock: Clock;
  /** Interval between messages in ms, as returned by `readRate`. Undefined for no limit on the rate. */
  readonly intervalMs?: number | undefined;
  /** Number by which to divide the recorded gaps, as returned by `readSpeed`. Undefined to ignore the recorded gaps. */
  readonly speed?: number | undefined;
}

/** Makes the pace of a replay. With both `intervalMs` and `speed`, a message is sent when both allow it. */
export function createPace({ clock, intervalMs, speed }: ReplayPaceOptions): ReplayPace {
  const paces: ReplayPace[] = [];
  if (intervalMs !== undefined) paces.push(new SteadyPace(clock, intervalMs));
  if (speed !== undefined) paces.push(new RecordedPace(clock, speed));
  return { next: (recordedAt) => paces.reduce((waitMs, pace) => Math.max(waitMs, pace.next(recordedAt)), 0) };
}

/**
 * Maximum delay to make up for by sending faster. Timers fire late and in whole milliseconds, which would otherwise lower
 * the rate. The rest of a longer delay is not made up for.
 */
const CATCH_UP_MS = 100;

/** Schedules one message every `intervalMs`. Makes up for at most CATCH_UP_MS of a delay, to avoid long bursts. */
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

/**
 * Keeps the recorded gaps, divided by `speed`. A message without a timestamp, or with an earlier one than a message before
 * it, follows without a gap.
 */
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

/** Parses a rate such as `100/s`, `30/m` or `0.5/s`, and returns the ms between two messages. Throws ConfigError. */
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

/** Parses a speed such as `1x`, `10x` or `0.5x`, and returns the factor. Throws ConfigError. */
export function readSpeed(text: string): number {
  const [, factor] = /^(\d+(?:\.\d+)?)x$/.exec(text.trim()) ?? [];
  if (Number(factor) > 0) return Number(factor);
  throw new ConfigError(`Expected \`--speed\` to be a factor, got ${printable(text, 40)}`, {
    key: 'speed',
    origin: '--speed',
    hint: 'write 1x for the recorded gaps, 10x for a tenth of them',
  });
}
