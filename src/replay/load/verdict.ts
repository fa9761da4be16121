import {
  evaluate,
  latencyBound,
  type LoadFigures,
  type Objective,
  type ObjectiveResult,
} from './objectives.ts';
import type { LoadRecorder } from './load-recorder.ts';

/** The result of an objective, with the second in which it broke first. */
export interface ObjectiveVerdict extends ObjectiveResult {
  readonly brokeInSecond?: number;
}

/** `invalid`: the sender was the bottleneck, so the load was not the one that was asked for. */
export interface LoadVerdict {
  readonly verdict: 'held' | 'broken' | 'invalid';
  readonly slo: readonly ObjectiveVerdict[];
}

/** Delay of the sender, for 1 % of the messages, from which a load is not the one that was asked for. */
const MAX_BEHIND_MS = 100;

/**
 * Judges a load. The sender was the bottleneck if it was late for more than 1 % of the messages, or if its delay alone is half
 * of a latency that an objective does not allow.
 */
export function judgeLoad(
  objectives: readonly Objective[],
  figures: LoadFigures,
  { total, firstBroken }: Pick<LoadRecorder, 'total' | 'firstBroken'>,
): LoadVerdict {
  const results = objectives.map((objective) => ({ objective, ...evaluate(objective, figures) }));
  const slo = results.map(({ objective, expr, held, value }): ObjectiveVerdict => {
    const second = firstBroken.get(objective);
    return { expr, held, value, ...(!held && second !== undefined && { brokeInSecond: second }) };
  });
  const behindMs = (percent: number): number => total.behind.percentileMs(percent) ?? 0;
  const isLate = results.some(({ objective, held }) => {
    const bound = held ? undefined : latencyBound(objective);
    return bound !== undefined && behindMs(bound.percent) > bound.ms / 2;
  });
  if (isLate || behindMs(99) > MAX_BEHIND_MS) return { verdict: 'invalid', slo };
  return { verdict: slo.every(({ held }) => held) ? 'held' : 'broken', slo };
}
