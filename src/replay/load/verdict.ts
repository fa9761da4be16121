import { evaluate, type LoadFigures, type Objective, type ObjectiveResult } from './objectives.ts';
import type { LoadRecorder } from './load-recorder.ts';
import type { FoundRate, StepResult } from './max-search.ts';

/**
 * The result of an objective. `brokeInSecond` is the first second in which it was broken. Absent if the objective held for
 * the load as a whole, or in every single second.
 */
export interface ObjectiveVerdict extends ObjectiveResult {
  readonly brokeInSecond?: number;
}

/** Whether a load held its objectives, and whether these results can be trusted. */
export interface JudgedObjectives {
  readonly slo: readonly ObjectiveVerdict[];
  /** Whether the sender was the bottleneck, so that the results do not describe the receiver. */
  readonly isSenderLimited: boolean;
}

/**
 * The result of a load, which decides its exit code. `broken`: an objective was broken, or a search found no rate that
 * holds the objectives. `failed`: the load stopped after 30 s of nothing but errors, no message had a result, or messages
 * failed and no objectives were given. `unfinished`: a search ended before its result. `sender-bottleneck`: the sender
 * could not keep up with the requested rate, or had too few connections for it.
 */
export type Verdict = 'held' | 'broken' | 'failed' | 'unfinished' | 'sender-bottleneck' | 'interrupted';

/** Why a load ended early. `errors-alone`: for 30 s there were only errors. `no-messages`: the input ran out of messages. */
export type EarlyEnd = 'interrupted' | 'errors-alone' | 'no-messages';

interface LoadOutcomes extends JudgedObjectives {
  readonly stopped: EarlyEnd | undefined;
  readonly max: FoundRate | undefined;
  readonly acknowledged: number;
  /** Number of messages that failed, could not be sent or were lost, plus entries that are not messages. */
  readonly failed: number;
  /** Number of failed messages that could not be sent, and that waited mostly for the sender itself. */
  readonly heldBack: number;
}

/** Decides the verdict of a load. No other code does. */
export function verdictOf(outcomes: LoadOutcomes): Verdict {
  const { stopped, max, slo, acknowledged, failed, heldBack, ...judged } = outcomes;
  if (stopped === 'interrupted') return 'interrupted';
  const { rate, isSenderLimited } = max ?? { rate: undefined, ...judged };
  if (stopped === 'errors-alone') return 'failed';
  const isHeldBack = slo.length === 0 && heldBack > 0 && failed === heldBack;
  if (isSenderLimited || isHeldBack) return 'sender-bottleneck';
  if (rate === null) return 'unfinished';
  if (rate === 0 || !slo.every(({ held }) => held)) return 'broken';
  const isEmpty = acknowledged + failed === 0;
  return isEmpty || (slo.length === 0 && failed > 0) ? 'failed' : 'held';
}

export function stepResultOf({ slo, isSenderLimited }: JudgedObjectives): StepResult {
  if (isSenderLimited) return 'sender-bottleneck';
  return slo.every(({ held }) => held) ? 'held' : 'broken';
}

/** Delay caused by the sender. If more than 1 % of the messages exceed it, the sender is the bottleneck. */
const MAX_BEHIND_MS = 1_000;
/**
 * Delay caused by the sender. If more than 1 % of the messages exceed it and a latency or a rate is broken, the sender is the
 * bottleneck: it sends late messages in bursts, which may have broken the objective.
 */
const SUSPECT_BEHIND_MS = 100;

/**
 * Evaluates the objectives of a load. The sender was the bottleneck if it delayed more than 1 % of the messages, sent or not,
 * by more than MAX_BEHIND_MS, or if it explains a broken objective: errors, if they break it only with the messages that it
 * held back; a latency or a rate, if more than 1 % of the messages were delayed by more than SUSPECT_BEHIND_MS; and a latency,
 * if the delay exceeds half of the limit. If all objectives hold, delays up to MAX_BEHIND_MS do not matter, because latency
 * includes them.
 */
export function judgeObjectives(
  objectives: readonly Objective[],
  figures: LoadFigures,
  { total, firstBroken, heldBack }: Pick<LoadRecorder, 'total' | 'firstBroken' | 'heldBack'>,
): JudgedObjectives {
  const behindMs = (percent: number): number => total.behind.percentileMs(percent) ?? 0;
  const isExcused = (objective: Objective): boolean => {
    const { metric, percent, bound } = objective;
    if (metric === 'lost') return false;
    if (metric === 'errors') {
      return heldBack > 0 && evaluate(objective, { ...figures, errors: figures.errors - heldBack }).held;
    }
    return behindMs(99) > SUSPECT_BEHIND_MS || (metric === 'latency' && behindMs(percent) > bound / 2);
  };
  let isSenderLimited = behindMs(99) > MAX_BEHIND_MS;
  const slo = objectives.map((objective): ObjectiveVerdict => {
    const result = evaluate(objective, figures);
    if (result.held) return result;
    isSenderLimited ||= result.value !== null && isExcused(objective);
    const second = firstBroken.get(objective);
    return { ...result, ...(second !== undefined && { brokeInSecond: second }) };
  });
  return { slo, isSenderLimited };
}
