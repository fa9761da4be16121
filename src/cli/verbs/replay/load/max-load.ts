import { systemClock, sleep } from '../../../../clock.ts';
import type { LatencyMs } from '../../../../replay/load/latency-histogram.ts';
import { searchHighest, type FoundRate, type StepResult } from '../../../../replay/load/max-search.ts';
import { isTimed, type Objective } from '../../../../replay/load/objectives.ts';
import { judgeObjectives, stepResultOf } from '../../../../replay/load/verdict.ts';
import type { LoadControl, LoadPartResult, RecordedPart } from './load-control.ts';

type OnSecond = RecordedPart['onSecond'];

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
  readonly onSecond: (...second: [...Parameters<OnSecond>, rate: number]) => void;
  readonly onStep: (point: SearchPoint) => void;
  readonly signal: AbortSignal;
}

/** Number of steps that fit in the whole duration. Most searches need half of them. */
const STEPS = 24;
const [SHORTEST_STEP_MS, LONGEST_STEP_MS] = [1_000, 60_000];
/** Factor by which the confirmation of the result is longer than other steps. */
const CONFIRMATION = 2;
/** Pause after a step that broke an objective, in which the receiver recovers. */
const RECOVERY_MS = 200;

/** Searches for the highest rate that holds the objectives. Ignores `lost`, which is known only at the end. */
export async function findMax(
  control: LoadControl,
  options: MaxLoadOptions,
): Promise<LoadPartResult & { max: SearchCurve }> {
  const { durationMs, signal, onStep } = options;
  const stepMs = Math.min(durationMs, LONGEST_STEP_MS, Math.max(SHORTEST_STEP_MS, durationMs / STEPS));
  const objectives = options.objectives.filter(isTimed);
  const curve: SearchPoint[] = [];
  let [leftMs, warmupMs] = [durationMs, options.warmupMs];
  let last: LoadPartResult | undefined;
  const heldParts = new Map<number, LoadPartResult>();
  const found = await searchHighest(async (rate, isConfirmation) => {
    const forMs = isConfirmation ? CONFIRMATION * stepMs : stepMs;
    // Ends the search if no time is left for a whole step, with 1 ms of tolerance for rounding.
    if (last !== undefined && (control.stopped !== undefined || leftMs < forMs - 1)) return undefined;
    leftMs -= forMs;
    const onSecond: OnSecond = (second, inFlight) => options.onSecond(second, inFlight, rate);
    const part = await control.part({ shape: `${rate}/s`, forMs, warmupMs, objectives, onSecond });
    warmupMs = 0;
    if (last === undefined || control.stopped === undefined) last = part;
    if (control.stopped !== undefined) return undefined;
    const { recorder, sentMs } = part;
    const result = stepResultOf(judgeObjectives(objectives, recorder.figures(sentMs), recorder));
    const { latency, counts } = recorder.total;
    const point = { rate, result, latencyMs: latency.percentilesMs(), errors: counts.errors };
    curve.push(point);
    onStep(point);
    if (result === 'held') heldParts.set(rate, part);
    if (result === 'broken') await sleep(systemClock, RECOVERY_MS, signal);
    return result;
  });
  if (last === undefined) throw new TypeError('Expected a search to have a step');
  return { ...(heldParts.get(found.reached) ?? last), max: { ...found, curve } };
}
