import type { ConnectionSlots } from '../../../../replay/load/connection-budget.ts';
import { judgeObjectives, verdictOf, type Verdict } from '../../../../replay/load/verdict.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import type { LoadPlan } from './load-options.ts';
import type { LoadControl, LoadPartResult } from './load-control.ts';
import type { LoadReplaySummary, LoadSummary } from './output/load-summary.ts';
import type { SearchCurve } from './max-load.ts';

/** The number of messages that arrived, and of acknowledged messages that did not. Empty without `--received`. */
export type Arrivals = Pick<LoadSummary, 'received' | 'lost'>;

export type LoadResult = LoadPartResult & { readonly max?: SearchCurve };

interface FinishedLoad {
  readonly plan: LoadPlan;
  readonly control: LoadControl;
  readonly part: LoadResult;
  readonly arrived: Arrivals;
  /** Time from the start of the load until the arrivals were read, in ms. */
  readonly ms: number;
  readonly slots: ConnectionSlots;
}

export function replaySummary(finished: FinishedLoad): LoadReplaySummary {
  const load = loadSummary(finished);
  const { p50, p95, p99 } = load.latencyMs;
  const { warmupFailed: _, ...counts } = finished.control.report.counts;
  const ms = Math.round(finished.ms);
  return { ...counts, queued: 0, ms, perSecond: load.rate, latencyMs: { p50, p95, p99 }, load };
}

function loadSummary({ plan, control, part, arrived, slots }: FinishedLoad): LoadSummary {
  const { recorder, sentMs, failures, max } = part;
  const { counts, behind, latency, service } = recorder.total;
  const { stopped, report } = control;
  const { delivered } = report.counts;
  const figures = { ...recorder.figures(sentMs), lost: arrived.lost ?? undefined, delivered };
  // Does not judge the rate of a load that ran out of messages, because it ended before its time.
  const isCut = stopped === 'no-messages';
  const judged = judgeObjectives(
    plan.objectives,
    isCut ? { ...figures, rate: undefined } : figures,
    recorder,
  );
  const failed = counts.errors + report.counts.invalid + (arrived.lost ?? 0);
  const { acknowledged } = counts;
  const hasReachedLimit = slots.isOwnLimit && control.peakInFlight >= slots.count;
  return {
    shape: plan.text,
    url: report.url,
    ms: Math.round(sentMs),
    rate: Math.round((figures.rate ?? 0) * 10) / 10,
    ...counts,
    behindMs: behind.percentilesMs(),
    latencyMs: latency.percentilesMs(),
    serviceMs: service.percentilesMs(),
    failures,
    warmupFailed: report.counts.warmupFailed,
    ...arrived,
    ...(hasReachedLimit && { connectionLimit: slots.count }),
    ...(stopped !== undefined && { stopped }),
    verdict: verdictOf({ ...judged, stopped, max, acknowledged, failed, heldBack: recorder.heldBack }),
    slo: judged.slo,
    ...(max !== undefined && { max }),
  };
}

const EXIT_CODES: Readonly<Record<Verdict, ExitCode>> = {
  held: ExitCode.ok,
  broken: ExitCode.negative,
  failed: ExitCode.negative,
  unfinished: ExitCode.negative,
  'sender-bottleneck': ExitCode.unusable,
  interrupted: ExitCode.negative,
};

/** Returns the exit code of a signal, if there was one, or else of the verdict: a closed pipe interrupts without a signal. */
export function loadExitCode({ load }: LoadReplaySummary, io: Io): ExitCode {
  return interruptedCode(io) ?? EXIT_CODES[load.verdict];
}
