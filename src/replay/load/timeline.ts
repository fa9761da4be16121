import type { LoadSecond } from './load-recorder.ts';

/** A part of a load, for pictures: one second, or the worst of several. */
export interface TimelinePoint {
  /** The last second of the part. */
  readonly second: number;
  readonly rate: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p99: number | null;
  readonly max: number | null;
}

/** Number of points that a picture can show. A longer load joins neighbors, so that memory is bounded at any length. */
const MAX_POINTS = 600;

/** Collects the seconds of a load for pictures. */
export class Timeline {
  #points: TimelinePoint[] = [];
  /** Number of seconds that a point stands for. */
  #secondsOfPoint = 1;
  #pending: TimelinePoint[] = [];

  add({ second, rate, errors, latencyMs: { p50, p99, max } }: LoadSecond): void {
    this.#pending.push({ second, rate, errors, p50, p99, max });
    if (this.#pending.length < this.#secondsOfPoint) return;
    this.#points.push(joined(this.#pending));
    this.#pending = [];
    if (this.#points.length < MAX_POINTS) return;
    this.#points = inGroupsOf(this.#points, 2);
    this.#secondsOfPoint *= 2;
  }

  /** Returns at most `count` points. */
  points(count: number): readonly TimelinePoint[] {
    const all = this.#pending.length === 0 ? this.#points : [...this.#points, joined(this.#pending)];
    return inGroupsOf(all, Math.ceil(all.length / count));
  }
}

function inGroupsOf(points: readonly TimelinePoint[], size: number): TimelinePoint[] {
  if (size <= 1) return [...points];
  const groups = Array.from({ length: Math.ceil(points.length / size) }, (_, group) =>
    points.slice(group * size, (group + 1) * size),
  );
  return groups.map(joined);
}

/** Joins points: the mean of the rates, the sum of the errors, and the longest of the times. */
function joined(points: readonly TimelinePoint[]): TimelinePoint {
  const sum = (of: (point: TimelinePoint) => number): number =>
    points.reduce((all, each) => all + of(each), 0);
  const longest = (name: 'p50' | 'p99' | 'max'): number | null => {
    const times = points.flatMap((point) => point[name] ?? []);
    return times.length === 0 ? null : Math.max(...times);
  };
  return {
    second: points.at(-1)?.second ?? 0,
    rate: sum(({ rate }) => rate) / points.length,
    errors: sum(({ errors }) => errors),
    p50: longest('p50'),
    p99: longest('p99'),
    max: longest('max'),
  };
}
