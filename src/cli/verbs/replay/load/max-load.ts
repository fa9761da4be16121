import { systemClock, sleep } from '../../../../clock.ts';
import type { LatencyMs } from '../../../../replay/load/latency-histogram.ts';
import { searchHighest, type FoundRate, type StepResult } from '../../../../replay/load/max-search.ts';
import { isTimed, leastRate, type Objective } from '../../../../replay/load/objectives.ts';
import { judgeObjectives, stepResultOf } from '../../../../replay/load/verdict.ts';
import type { LoadControl, LoadPartResult, RecordedPart } from './load-control.ts';

type OnSecond = RecordedPart['onSecond'];

/** The result of a search for the highest rate, with the results of its steps. */
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

/**
 * Number of steps into which a search divides its duration, if each then takes 1 to 60 s. Most searches need half of
 * them.
 */
const STEPS = 24;
const [SHORTEST_STEP_MS, LONGEST_STEP_MS] = [1_000, 60_000];
/** Factor by which the confirmation of the result is longer than other steps. */
const CONFIRMATION = 2;
/** Pause after a step that broke an objective, so that the receiver can recover. */
const RECOVERY_MS = 200;

/**
 * Searches for the highest rate that holds the objectives. Returns the search and the measurements at that rate, or
 * those of the last step if no rate held. Ignores `lost` objectives, because lost messages are counted only at the end.
 */
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
    // Ends the search if it was stopped, or if less time is left than the step takes (with 1 ms of tolerance for
    // rounding). The first step always runs.
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
  }, leastRate(objectives));
  if (last === undefined) throw new TypeError('Expected a search to have a step');
  return { ...(heldParts.get(found.reached) ?? last), max: { ...found, curve } };
}
