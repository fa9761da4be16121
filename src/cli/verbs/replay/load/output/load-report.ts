import type { TimelinePoint } from '../../../../../replay/load/timeline.ts';
import { escapeXml } from '../../../../../report/xml.ts';
import { durationText } from '../../../../attempt-text.ts';
import type { LoadSummary } from './load-summary.ts';

/** A line of a chart. */
interface ChartLine {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [860, 200, 64, 22];
const GRID_LINES = 4;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
table{border-collapse:collapse;margin:1rem 0}td,th{padding:.2rem .8rem;text-align:right;border-bottom:1px solid #ddd}
td:first-child,th:first-child{text-align:left}svg{width:100%;height:auto}svg text{font-size:11px;fill:#666}
.held{color:#187a3a}.broken,.invalid{color:#b3261e}`;

/** Writes a load as one HTML file with its charts as SVG. It loads nothing, and has no script. */
export function loadReport(load: LoadSummary, points: readonly TimelinePoint[]): string {
  const of = (value: (point: TimelinePoint) => number | null): (number | null)[] => points.map(value);
  const seconds = points.at(-1)?.second ?? 0;
  const title = `Load ${load.shape} on ${load.url}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeXml(title)}</h1>
<p class="${load.verdict}">Verdict: ${load.verdict}. ${counts(load)}</p>
${objectiveTable(load)}
${latencyTable(load)}
<h2>Latency</h2>
${chart(
  [
    { name: 'max', color: '#bbb', values: of(({ max }) => max) },
    { name: 'p99', color: '#b3261e', values: of(({ p99 }) => p99) },
    { name: 'p50', color: '#2457c5', values: of(({ p50 }) => p50) },
  ],
  { seconds, text: durationText },
)}
<h2>Messages per second</h2>
${chart(
  [
    { name: 'acknowledged', color: '#187a3a', values: of(({ rate }) => rate) },
    { name: 'errors', color: '#b3261e', values: of(({ errors }) => errors) },
  ],
  { seconds, text: (rate) => String(Math.round(rate)) },
)}
${searchTable(load)}
</html>
`;
}

function counts({ sent, acknowledged, errors, rate, received, lost, ms }: LoadSummary): string {
  const arrived =
    received === undefined ? '' : `, ${received ?? 'unknown'} received, ${lost ?? 'unknown'} lost`;
  return `${sent} sent in ${durationText(ms)}, ${acknowledged} acknowledged (${rate}/s), ${errors} errors${arrived}.`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return `<table>${tableRow(head, 'th')}${rows.map((row) => tableRow(row, 'td')).join('')}</table>`;
}

function tableRow(cells: readonly string[], tag: 'td' | 'th'): string {
  return `<tr>${cells.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`;
}

function objectiveTable({ slo }: LoadSummary): string {
  if (slo.length === 0) return '';
  const rows = slo.map(({ expr, held, value, brokeInSecond }) => [
    expr,
    held ? 'held' : 'broken',
    value === null ? '-' : String(value),
    brokeInSecond === undefined ? '' : String(brokeInSecond),
  ]);
  return table(['objective', '', 'value', 'first broken in second'], rows);
}

function latencyTable({ latencyMs, serviceMs, behindMs }: LoadSummary): string {
  const rows = Object.entries({ latency: latencyMs, service: serviceMs, behind: behindMs });
  const cells = rows.map(([name, times]) => [
    name,
    ...Object.values(times).map((ms) => (ms === null ? '-' : `${Math.round(ms * 100) / 100}`)),
  ]);
  return table(['ms', ...Object.keys(latencyMs)], cells);
}

function searchTable({ max }: LoadSummary): string {
  if (max === undefined) return '';
  const rows = max.curve.map(({ rate, result, latencyMs, errors }) => [
    `${rate}/s`,
    result,
    latencyMs.p99 === null ? '-' : `${latencyMs.p99}`,
    String(errors),
  ]);
  return `<h2>Highest rate: ${max.rate}/s</h2>${table(['rate', 'result', 'p99 in ms', 'errors'], rows)}`;
}

interface Axes {
  readonly seconds: number;
  readonly text: (value: number) => string;
}

function chart(series: readonly ChartLine[], { seconds, text }: Axes): string {
  const top = Math.max(1e-9, ...series.flatMap(({ values }) => values.flatMap((value) => value ?? [])));
  const y = (value: number): number => 10 + (1 - value / top) * (HEIGHT - BOTTOM - 10);
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = (top * index) / GRID_LINES;
    const at = y(value).toFixed(1);
    return `<path d="M${LEFT} ${at}H${WIDTH}" stroke="#eee"/><text x="${LEFT - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${escapeXml(text(value))}</text>`;
  });
  const lines = series.map(({ name, color, values }) => {
    const path = pathOf(values, y);
    return `<path d="${path}" fill="none" stroke="${color}" stroke-width="1.5"><title>${name}</title></path>`;
  });
  const legend = series.map(
    ({ name, color }, index) =>
      `<text x="${LEFT + 8 + index * 110}" y="${HEIGHT - 6}" style="fill:${color}">— ${name}</text>`,
  );
  const end = `<text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${escapeXml(durationText(seconds * 1_000))}</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${[...grid, ...lines, ...legend, end].join('')}</svg>`;
}

/** Returns the path of a line. A missing value interrupts it. */
function pathOf(values: readonly (number | null)[], y: (value: number) => number): string {
  const width = (WIDTH - LEFT) / Math.max(1, values.length - 1);
  return values
    .map((value, index) => {
      if (value === null) return '';
      const isStart = index === 0 || values[index - 1] === null;
      return `${isStart ? 'M' : 'L'}${(LEFT + index * width).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
}
