import { evaluate, isTimed, type LoadFigures, type Objective, type ObjectiveResult } from './objectives.ts';
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

/** Delay of the sender, for 1 % of the messages, from which the load was not the one that was asked for. */
const MAX_BEHIND_MS = 1_000;
/** Delay from which a broken objective can be due to the sender, because late messages come at once. */
const SUSPECT_BEHIND_MS = 100;

/**
 * Judges a load. The sender was the bottleneck if it was late for more than 1 % of the messages. Latency includes this delay,
 * so objectives that hold in spite of a short delay are proved. A broken objective is not, if the delay can explain it: it is
 * half of the latency that the objective allows, or makes messages come at once.
 */
export function judgeLoad(
  objectives: readonly Objective[],
  figures: LoadFigures,
  { total, firstBroken }: Pick<LoadRecorder, 'total' | 'firstBroken'>,
): LoadVerdict {
  const behindMs = (percent: number): number => total.behind.percentileMs(percent) ?? 0;
  let isInvalid = behindMs(99) > MAX_BEHIND_MS;
  const slo = objectives.map((objective): ObjectiveVerdict => {
    const result = evaluate(objective, figures);
    if (result.held) return result;
    const { metric, percent, bound } = objective;
    const isHalf = metric === 'latency' && behindMs(percent) > bound / 2;
    if (isTimed(objective) && (isHalf || behindMs(99) > SUSPECT_BEHIND_MS)) isInvalid = true;
    const second = firstBroken.get(objective);
    return { ...result, ...(second !== undefined && { brokeInSecond: second }) };
  });
  if (isInvalid) return { verdict: 'invalid', slo };
  return { verdict: slo.every(({ held }) => held) ? 'held' : 'broken', slo };
}
