import type { LoadSender } from '../../../../app/load/load-sender.ts';
import { judgeLoad, type LoadVerdict } from '../../../../replay/load/verdict.ts';
import { ExitCode, interruptedCode } from '../../../exit-code.ts';
import type { Io } from '../../../io.ts';
import type { LoadMessages } from './load-messages.ts';
import type { LoadPlan } from './load-options.ts';
import type { LoadPartResult, LoadRun } from './load-run.ts';
import type { LoadReplaySummary, LoadSummary } from './output/load-summary.ts';
import type { SearchCurve } from './max-load.ts';

/** The messages that arrived, and those of them that were acknowledged and did not. */
export type Arrivals = Pick<LoadSummary, 'received' | 'lost'>;

export type LoadResult = LoadPartResult & { readonly max?: SearchCurve };

interface FinishedLoad {
  readonly plan: LoadPlan;
  readonly sender: LoadSender;
  readonly io: Io;
  readonly run: LoadRun;
  readonly part: LoadResult;
  readonly arrived: Arrivals;
  readonly messages: LoadMessages;
}

export function loadSummary({ plan, run, part, arrived, messages, sender, io }: FinishedLoad): LoadSummary {
  const { recorder, sentMs, max } = part;
  const { behind, latency, service, ...counts } = recorder.total;
  const figures = { ...recorder.figures(sentMs), lost: arrived.lost ?? undefined };
  const judged = judgeLoad(plan.objectives, figures, recorder);
  const isShort = plan.shape.kind === 'curve' && sentMs < Math.floor(plan.shape.curve.durationMs);
  const stopped = stoppedBy(run, isShort && messages.isEnded, io);
  return {
    shape: plan.text,
    url: sender.shownUrl,
    ms: Math.round(sentMs),
    rate: Math.round(figures.rate * 10) / 10,
    ...counts,
    behindMs: behind.percentilesMs(),
    latencyMs: latency.percentilesMs(),
    serviceMs: service.percentilesMs(),
    failures: Object.fromEntries(run.failures),
    ...arrived,
    ...(stopped !== undefined && { stopped }),
    ...(max === undefined ? judged : { ...maxVerdict(max, judged), max }),
    ...(run.isStopped && { verdict: 'broken' }),
  };
}

/** The verdict of a search: a rate was found, unless the first rates broke or the sender was the limit. */
function maxVerdict({ rate, isSenderLimited }: SearchCurve, { slo }: LoadVerdict): LoadVerdict {
  if (isSenderLimited) return { verdict: 'invalid', slo };
  return { verdict: rate > 0 && slo.every(({ held }) => held) ? 'held' : 'broken', slo };
}

function stoppedBy(run: LoadRun, isOutOfMessages: boolean, { signal }: Io): LoadSummary['stopped'] {
  if (signal.aborted) return 'interrupted';
  if (run.isStopped) return 'errors-alone';
  return isOutOfMessages ? 'no-messages' : undefined;
}

export function replaySummary(
  { counts }: LoadRun,
  messages: LoadMessages,
  { load, ms }: { readonly load: LoadSummary; readonly ms: number },
): LoadReplaySummary {
  const { delivered, failed, unsent } = counts;
  const { p50, p95, p99 } = load.latencyMs;
  return {
    ...messages.counts,
    delivered,
    failed,
    queued: 0,
    unsent,
    ms: Math.round(ms),
    perSecond: load.rate,
    latencyMs: { p50, p95, p99 },
    load,
  };
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
