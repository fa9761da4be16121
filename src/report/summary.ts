import type { ReportedSummary } from './report.ts';

/** Formats the summary of a replay as aligned lines, without counts that are zero, except `read` and `delivered`. */
export function summaryLines(summary: ReportedSummary): string[] {
  const { read, delivered, failed, queued, filtered, invalid, unsent, skipped, ms, perSecond, unreadFrom } =
    summary;
  const parts = { failed, queued, filtered, invalid, unsent };
  const counts = [
    ['read', read],
    ['delivered', delivered],
    ...Object.entries(parts).filter(([, count]) => count > 0),
    ...(skipped > 0 ? [['skipped', skipped] as const] : []),
  ] as const;
  const width = Math.max(...counts.map(([, count]) => grouped(count).length));
  const lines = counts.map(([name, count]) => {
    const line = `${name.padEnd(9)}  ${grouped(count).padStart(width)}`;
    return name === 'skipped' ? line + beforeText(summary) : line;
  });
  if (unreadFrom !== undefined) lines.push(unreadLine(unreadFrom, summary));
  const speed = `in ${duration(ms)}, ${grouped(perSecond)} a second`;
  return [...lines, latencyOf(summary) === undefined ? speed : `${speed}; latency ${latencyOf(summary)}`];
}

function unreadLine(from: number, { unsent, unsentFrom }: ReportedSummary): string {
  const repeated = unsent > 0 ? ` (${unsentFrom} repeats what follows the first unsent one)` : '';
  return `unread     after message ${from}: --offset ${from} continues${repeated}`;
}

/** Formats the numbers of entries that earlier runs of a resumed replay delivered or queued. */
function beforeText({ resumed }: ReportedSummary): string {
  if (resumed === undefined) return '';
  const { delivered, queued } = resumed;
  const parts = Object.entries({ delivered, queued }).filter(([, count]) => count > 0);
  const texts = parts.map(([name, count]) => `${grouped(count)} ${name} before`);
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`;
}

function latencyOf({ latencyMs: { p50, p95, p99 } }: ReportedSummary): string | undefined {
  if (p50 === null || p95 === null || p99 === null) return undefined;
  return `p50 ${duration(p50)}, p95 ${duration(p95)}, p99 ${duration(p99)}`;
}

function grouped(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: count < 100 ? 1 : 0 });
}

function duration(ms: number): string {
  if (ms < 10) return `${Math.round(ms * 100) / 100}ms`;
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 60_000) return `${Math.round(ms / 100) / 10}s`;
  const seconds = Math.round(ms / 1_000);
  return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}
