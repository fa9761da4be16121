import type { LatencyMs } from '../../../../../replay/load/latency-histogram.ts';
import type { EarlyEnd, ObjectiveVerdict, Verdict } from '../../../../../replay/load/verdict.ts';
import type { ReplaySummary } from '../../../../../replay/ledger.ts';
import { durationText } from '../../../../attempt-text.ts';
import type { Palettes } from '../../../../palette.ts';
import { formatTable, type Cell } from '../../../../print/table.ts';
import type { SearchCurve } from '../max-load.ts';

/**
 * The result of a load, as `-o json` prints it in the summary. With `--load max`, the measurements are those at the
 * highest rate that held, or of the last step if no rate held.
 */
export interface LoadSummary {
  readonly verdict: Verdict;
  readonly slo: readonly ObjectiveVerdict[];
  readonly shape: string;
  readonly url: string;
  /** Time after the warm-up during which messages were due, in ms. */
  readonly ms: number;
  readonly sent: number;
  readonly acknowledged: number;
  /** Number of messages that failed, or were due but could not be sent. */
  readonly errors: number;
  /** Number of messages that were due but could not be sent before the end. They are included in `errors`. */
  readonly notSent: number;
  /** Acknowledged messages per second. */
  readonly rate: number;
  /** Delays caused by the sender: how late messages would have been sent if none had waited for the receiver. */
  readonly behindMs: LatencyMs;
  readonly latencyMs: LatencyMs;
  readonly serviceMs: LatencyMs;
  /** Number of messages that an interruption aborted before they got a response. */
  readonly unsent: number;
  /** Number of requests that repeated a failed one, because of `--retry-for` or by the HTTP client itself. */
  readonly retries: number;
  /** Number of messages that failed in the warm-up. `errors` and `failures` do not include them. */
  readonly warmupFailed: number;
  /** Number of failed messages by error text. */
  readonly failures: Readonly<Record<string, number>>;
  /**
   * Number of messages that arrived: by how much the number of `--received` grew during the load, from 0 after each fall.
   * Null if that number could not be read at the end.
   */
  readonly received?: number | null;
  /**
   * Number of messages that were acknowledged but did not arrive, including those of the warm-up: the least possible
   * number if that of `--received` fell. Null if it is unknown.
   */
  readonly lost?: number | null;
  /** Number of connections that the limit of open files allows. Absent unless the load used all of them. */
  readonly connectionLimit?: number;
  /** Why the load ended early. Absent if it did not. */
  readonly stopped?: EarlyEnd;
  /** The rates that the search tried, and its result (`--load max`). */
  readonly max?: SearchCurve;
}

/** The whole summary: the counts of all messages, including those of the warm-up, and the result of the load. */
export type LoadReplaySummary = ReplaySummary & { readonly load: LoadSummary };

/** Formats the result of a load as lines of text. */
export function loadLines(summary: LoadReplaySummary, { color }: Pick<Palettes, 'color'>): string[] {
  const { load } = summary;
  const { latencyMs, serviceMs, failures, verdict, slo, stopped } = load;
  const marks = { true: color.green('✓'), false: color.red('✗') };
  return [
    ...percentileLines({ latency: latencyMs, service: serviceMs }),
    ...Object.entries(failures).map(([text, count]) => `failed     ${grouped(count)} × ${text}`),
    reconciliation(load),
    ...searchLines(load.max),
    ...slo.map(({ expr, held, value, brokeInSecond }) => {
      const first = brokeInSecond === undefined ? '' : `, first in second ${brokeInSecond}`;
      return `${marks[`${held}`]} ${expr}   ${valueText(expr, value)}${first}`;
    }),
    ...(stopped === undefined ? [] : [color.yellow(`ended early: ${stoppedText(stopped, load)}`)]),
    color[verdict === 'held' ? 'green' : 'red'](`verdict    ${loadVerdictText(summary)}`),
  ];
}

/** Returns the verdict with its reason, unless other lines show the reason. */
export function loadVerdictText({ load, invalid }: LoadReplaySummary): string {
  const reason = verdictReason(load, invalid);
  return reason === undefined ? load.verdict : `${load.verdict}: ${reason}`;
}

function verdictReason(load: LoadSummary, invalid: number): string | undefined {
  const { verdict, behindMs, max, connectionLimit: limit, errors, lost, sent } = load;
  if (verdict === 'unfinished') return 'the search ended before its result; a longer --for can finish it';
  if (verdict === 'sender-bottleneck') {
    if (limit !== undefined) {
      return `the limit of open files allows ${limit} connection${limit === 1 ? '' : 's'}; raise it with ulimit -n`;
    }
    if (max !== undefined) return 'the sender cannot send faster';
    return `the sender was behind by ${durationText(behindMs.p99 ?? 0)} (p99); lower the rate, or add --workers`;
  }
  const isOnlyInvalid = sent === 0 || (verdict === 'failed' && errors + (lost ?? 0) === 0);
  return verdict !== 'held' && isOnlyInvalid && invalid > 0 ? `${grouped(invalid)} invalid` : undefined;
}

/** Formats the measured value of an objective with its unit. */
function valueText(expr: string, value: number | null): string {
  if (value === null) return 'no value';
  if (/^(?:p|max)/.test(expr)) return msText(value);
  const unit = expr.endsWith('%') ? '%' : '';
  return `${value}${expr.startsWith('rate') ? '/s' : unit}`;
}

function stoppedText(stopped: EarlyEnd, { sent }: LoadSummary): string {
  if (stopped === 'errors-alone') return 'only errors came for 30 s';
  if (stopped === 'interrupted') return stopped;
  return `no message was left to send${sent > 0 ? '; --loop repeats those that were sent' : ''}`;
}

function percentileLines(rows: Readonly<Record<string, LatencyMs>>): string[] {
  const [names = {}] = Object.values(rows);
  const lines = Object.entries(rows).map(([name, times]) =>
    percentileRow(
      name,
      Object.values(times).map((ms) => (ms === null ? '-' : msText(ms))),
    ),
  );
  return formatTable([percentileRow('', Object.keys(names)), ...lines], { columns: undefined })
    .trimEnd()
    .split('\n');
}

function percentileRow(name: string, texts: readonly string[]): readonly Cell[] {
  return [{ text: name, minWidth: 9 }, ...texts.map((text): Cell => ({ text, minWidth: 7, align: 'end' }))];
}

function msText(ms: number): string {
  return ms < 10 ? `${Math.round(ms * 100) / 100}ms` : durationText(ms);
}

function reconciliation(load: LoadSummary): string {
  const { sent, acknowledged, errors, notSent, unsent, retries, warmupFailed, received, lost } = load;
  const more = { 'without a response': unsent, retries, 'failed in the warm-up': warmupFailed };
  const counted = [
    `sent ${grouped(sent)}`,
    `acknowledged ${grouped(acknowledged)}`,
    `errors ${grouped(errors)}${notSent > 0 ? ` (${grouped(notSent)} not sent)` : ''}`,
    ...Object.entries(more).flatMap(([name, count]) => (count > 0 ? `${name} ${grouped(count)}` : [])),
  ].join(', ');
  if (received === undefined) return counted;
  if (received === null) return `${counted}, received unknown`;
  const lostText = typeof lost === 'number' ? `${grouped(lost)} lost` : 'lost unknown';
  return `${counted}; in all ${grouped(received)} received, ${lostText}`;
}

function searchLines(max: SearchCurve | undefined): string[] {
  if (max === undefined) return [];
  const steps = max.curve.map(({ rate, result, latencyMs, errors }) => {
    const p99 = latencyMs.p99 === null ? '-' : msText(latencyMs.p99);
    return `${`${rate}/s`.padStart(10)}  ${result.padEnd(17)}  p99 ${p99}, ${grouped(errors)} errors`;
  });
  if (max.rate === 0) return [...steps, 'no rate held the objectives'];
  if (max.rate !== null) return [...steps, `the highest rate that held: ${max.rate}/s`];
  return [
    ...steps,
    `no result: ${max.reached === 0 ? 'no rate has held' : `${max.reached}/s held, unconfirmed`}`,
  ];
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
