import type { LoadSecond } from './load-recorder.ts';

/** A point of a chart: one second of a load, or several consecutive seconds. */
export interface TimelinePoint {
  /** The last second that the point covers. */
  readonly second: number;
  /** Mean rate of these seconds, in acknowledged messages per second. */
  readonly rate: number;
  readonly errors: number;
  /** Highest `p50` of these seconds, in ms. `p99` and `max` likewise. Null if no second has a value. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** Number of points at which pairs of neighbors are joined, which bounds the memory for loads of any length. */
const MAX_POINTS = 600;

/** Collects the seconds of a load for charts. */
export class Timeline {
  #points: TimelinePoint[] = [];
  /** Number of seconds that each point covers. */
  #secondsOfPoint = 1;
  #pending: TimelinePoint[] = [];

  add({ second, rate, errors, latencyMs: { p50, p99, max } }: LoadSecond): void {
    this.#pending.push({ second, rate, errors, p50, p99, max });
    if (this.#pending.length < this.#secondsOfPoint) return;
    this.#points.push(...inGroupsOf(this.#secondsOfPoint, this.#pending));
    this.#pending = [];
    if (this.#points.length < MAX_POINTS) return;
    this.#points = inGroupsOf(2, this.#points);
    this.#secondsOfPoint *= 2;
  }

  /** Returns at most `count` points, and joins neighbors if there are more. */
  points(count: number): readonly TimelinePoint[] {
    const all = [...this.#points, ...inGroupsOf(this.#secondsOfPoint, this.#pending)];
    return inGroupsOf(Math.ceil(all.length / count), all);
  }
}

/** Joins every `size` neighboring points into one. The last group can have fewer. */
function inGroupsOf(size: number, points: readonly TimelinePoint[]): TimelinePoint[] {
  return Array.from({ length: Math.ceil(points.length / Math.max(1, size)) }, (_, group) => {
    const joined = points.slice(group * size, (group + 1) * size);
    const sum = (name: 'rate' | 'errors'): number => joined.reduce((all, each) => all + each[name], 0);
    const longest = (name: 'p50' | 'p99' | 'max'): number | null => {
      const times = joined.flatMap((point) => point[name] ?? []);
      return times.length === 0 ? null : Math.max(...times);
    };
    return {
      second: joined.at(-1)?.second ?? 0,
      rate: sum('rate') / joined.length,
      errors: sum('errors'),
      p50: longest('p50'),
      p99: longest('p99'),
      max: longest('max'),
    };
  });
}
