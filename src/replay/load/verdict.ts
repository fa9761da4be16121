import { evaluate, isTimed, type LoadFigures, type Objective, type ObjectiveResult } from './objectives.ts';
import type { LoadRecorder } from './load-recorder.ts';
import type { FoundRate, StepResult } from './max-search.ts';

/** The result of an objective, with the first second in which it was broken. */
export interface ObjectiveVerdict extends ObjectiveResult {
  readonly brokeInSecond?: number;
}

/** The objectives of a load with their results. */
export interface JudgedObjectives {
  readonly slo: readonly ObjectiveVerdict[];
  /** Whether the sender was the bottleneck, so that the load did not have the requested rate. */
  readonly isSenderLimited: boolean;
}

/**
 * The result of a load, which decides its exit code. `sender-bottleneck`: the sender could not keep the requested rate.
 * `unfinished`: a search ended before its result. `failed`: messages failed or were lost without an objective that allows
 * it, or none was sent.
 */
export type Verdict = 'held' | 'broken' | 'failed' | 'unfinished' | 'sender-bottleneck' | 'interrupted';

/** Why a load ended early. `errors-alone`: no message was acknowledged for a long time. */
export type EarlyEnd = 'interrupted' | 'errors-alone' | 'no-messages';

interface LoadOutcomes extends JudgedObjectives {
  readonly stopped: EarlyEnd | undefined;
  readonly max: FoundRate | undefined;
  readonly acknowledged: number;
  /** Messages that failed, could not be sent or were lost, and entries that are not messages. */
  readonly failed: number;
}

/** Returns the verdict of a load: the only place that decides it. */
export function verdictOf({ stopped, max, slo, acknowledged, failed, ...judged }: LoadOutcomes): Verdict {
  if (stopped === 'interrupted') return 'interrupted';
  const { rate, isSenderLimited } = max ?? { rate: undefined, ...judged };
  if (isSenderLimited) return 'sender-bottleneck';
  if (stopped === 'errors-alone') return 'failed';
  if (rate === null) return 'unfinished';
  if (rate === 0 || !slo.every(({ held }) => held)) return 'broken';
  const isEmpty = acknowledged + failed === 0;
  return isEmpty || (slo.length === 0 && failed > 0) ? 'failed' : 'held';
}

export function stepResultOf({ slo, isSenderLimited }: JudgedObjectives): StepResult {
  if (isSenderLimited) return 'sender-bottleneck';
  return slo.every(({ held }) => held) ? 'held' : 'broken';
}

/** Delay of the sender above which it counts as the bottleneck, if 1 % of the messages have this delay. */
const MAX_BEHIND_MS = 1_000;
/** Delay of the sender above which it can be the cause of a broken objective, because late messages are sent in bursts. */
const SUSPECT_BEHIND_MS = 100;

/**
 * Evaluates the objectives of a load. The sender was the bottleneck if more than 1 % of the messages were sent late, or if
 * its delay can explain a broken objective: it is more than half of the allowed latency, or makes late messages go out in
 * bursts. Latency includes the delay, so an objective that holds in spite of the delay is proved.
 */
export function judgeObjectives(
  objectives: readonly Objective[],
  figures: LoadFigures,
  { total, firstBroken }: Pick<LoadRecorder, 'total' | 'firstBroken'>,
): JudgedObjectives {
  const behindMs = (percent: number): number => total.behind.percentileMs(percent) ?? 0;
  let isSenderLimited = behindMs(99) > MAX_BEHIND_MS;
  const slo = objectives.map((objective): ObjectiveVerdict => {
    const result = evaluate(objective, figures);
    if (result.held) return result;
    const { metric, percent, bound } = objective;
    const isHalf = metric === 'latency' && behindMs(percent) > bound / 2;
    if (isTimed(objective) && (isHalf || behindMs(99) > SUSPECT_BEHIND_MS)) isSenderLimited = true;
    const second = firstBroken.get(objective);
    return { ...result, ...(second !== undefined && { brokeInSecond: second }) };
  });
  return { slo, isSenderLimited };
}
