import { judgeLoad, type LoadVerdict } from '../../../../replay/load/verdict.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import type { LoadPlan } from './load-options.ts';
import type { LoadControl, LoadPartResult } from './load-control.ts';
import type { LoadReplaySummary, LoadSummary } from './output/load-summary.ts';
import type { SearchCurve } from './max-load.ts';

/** The messages that arrived, and those of them that were acknowledged and did not. */
export type Arrivals = Pick<LoadSummary, 'received' | 'lost'>;

export type LoadResult = LoadPartResult & { readonly max?: SearchCurve };

interface FinishedLoad {
  readonly plan: LoadPlan;
  readonly control: LoadControl;
  readonly part: LoadResult;
  readonly arrived: Arrivals;
  /** Time of the whole command. */
  readonly ms: number;
}

export function replaySummary(finished: FinishedLoad): LoadReplaySummary {
  const load = loadSummary(finished);
  const { p50, p95, p99 } = load.latencyMs;
  const { counts } = finished.control.report;
  const ms = Math.round(finished.ms);
  return { ...counts, queued: 0, ms, perSecond: load.rate, latencyMs: { p50, p95, p99 }, load };
}

function loadSummary({ plan, control, part, arrived }: FinishedLoad): LoadSummary {
  const { recorder, sentMs, max } = part;
  const { counts, behind, latency, service } = recorder.total;
  const { stopped, report } = control;
  const figures = { ...recorder.figures(sentMs), lost: arrived.lost ?? undefined };
  // A rate over a part of the time says nothing about the rest.
  const isCut = stopped === 'no-messages';
  const judged = judgeLoad(plan.objectives, isCut ? { ...figures, rate: undefined } : figures, recorder);
  return {
    shape: plan.text,
    url: report.url,
    ms: Math.round(sentMs),
    rate: Math.round((figures.rate ?? 0) * 10) / 10,
    ...counts,
    behindMs: behind.percentilesMs(),
    latencyMs: latency.percentilesMs(),
    serviceMs: service.percentilesMs(),
    failures: report.failures,
    ...arrived,
    ...(stopped !== undefined && { stopped }),
    ...(max === undefined ? judged : { ...maxVerdict(max, judged), max }),
    ...(stopped === 'errors-alone' && { verdict: 'broken' }),
  };
}

/** The verdict of a search: a rate was found, unless the first rates broke or the sender was the limit. */
function maxVerdict({ rate, isSenderLimited }: SearchCurve, { slo }: LoadVerdict): LoadVerdict {
  if (isSenderLimited) return { verdict: 'invalid', slo };
  return { verdict: rate > 0 && slo.every(({ held }) => held) ? 'held' : 'broken', slo };
}

/** Returns the exit code of a load: by its objectives if there are any, else by its messages. */
export function loadExitCode(
  { load, delivered, failed, invalid }: LoadReplaySummary,
  { objectives }: LoadPlan,
  io: Io,
): ExitCode {
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  if (load.verdict === 'invalid' && objectives.length > 0) return ExitCode.unusable;
  if (load.verdict === 'broken') return ExitCode.negative;
  const isGood = delivered > 0 && failed + invalid === 0;
  return objectives.length > 0 || isGood ? ExitCode.ok : ExitCode.negative;
}
