import { systemClock, sleep } from '../../../../clock.ts';
import type { LatencyMs } from '../../../../replay/load/latency-histogram.ts';
import { constantRate } from '../../../../replay/load/load-curve.ts';
import type { LoadSecond } from '../../../../replay/load/load-recorder.ts';
import { withWarmup } from '../../../../replay/load/load-shape.ts';
import { searchHighest, type FoundRate, type StepResult } from '../../../../replay/load/max-search.ts';
import { isTimed, type Objective } from '../../../../replay/load/objectives.ts';
import { judgeLoad } from '../../../../replay/load/verdict.ts';
import type { LoadPartResult, LoadRun } from './load-run.ts';

/** The rates that a search has tried, and the highest that held. */
export interface SearchCurve extends FoundRate {
  readonly curve: readonly SearchPoint[];
}

export interface SearchPoint {
  readonly rate: number;
  readonly result: StepResult;
  readonly latencyMs: LatencyMs;
  readonly errors: number;
}

interface MaxLoadOptions {
  readonly durationMs: number;
  readonly warmupMs: number;
  readonly objectives: readonly Objective[];
  readonly onSecond: (second: LoadSecond, rate: number) => void;
  readonly onStep: (point: SearchPoint) => void;
  readonly signal: AbortSignal;
}

/** Number of steps for which the whole time is enough: most searches need half of them. */
const STEPS = 24;
const [SHORTEST_STEP_MS, LONGEST_STEP_MS] = [1_000, 60_000];
/** Factor by which the step that confirms the result is longer. */
const CONFIRMATION = 2;
/** Time without messages after a step that broke an objective, in which the receiver recovers. */
const RECOVERY_MS = 200;

/** Searches the highest rate that holds the objectives. Loss is left out, because it is known only at the end. */
export async function findMax(
  run: LoadRun,
  options: MaxLoadOptions,
): Promise<LoadPartResult & { max: SearchCurve }> {
  const { durationMs, objectives, signal, onStep } = options;
  const stepMs = Math.min(LONGEST_STEP_MS, Math.max(SHORTEST_STEP_MS, durationMs / STEPS));
  const timed = objectives.filter(isTimed);
  const curve: SearchPoint[] = [];
  let [leftMs, warmupMs] = [durationMs, options.warmupMs];
  let last: LoadPartResult | undefined;
  const found = await searchHighest(async (rate, isConfirmation) => {
    if (last !== undefined && (run.isEnded || leftMs <= 0)) return undefined;
    const ms = Math.min(leftMs, isConfirmation ? CONFIRMATION * stepMs : stepMs);
    leftMs -= ms;
    const onSecond = (second: LoadSecond): void => options.onSecond(second, rate);
    const load = withWarmup(constantRate(rate, ms), warmupMs);
    const part = await run.part({ curve: load, warmupMs, objectives: timed, onSecond });
    warmupMs = 0;
    last ??= part;
    if (signal.aborted || run.isStopped) return undefined;
    const { verdict: result } = judgeLoad(timed, part.recorder.figures(part.sentMs), part.recorder);
    const { total } = part.recorder;
    const point = { rate, result, latencyMs: total.latency.percentilesMs(), errors: total.errors };
    curve.push(point);
    onStep(point);
    if (result === 'held') last = part;
    if (result === 'broken') await sleep(systemClock, RECOVERY_MS, signal);
    return result;
  });
  if (last === undefined) throw new TypeError('Expected a search to have a step');
  return { ...last, max: { ...found, curve } };
}
