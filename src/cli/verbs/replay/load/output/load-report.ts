import type { TimelinePoint } from '../../../../../replay/load/timeline.ts';
import { escapeXml } from '../../../../../report/xml.ts';
import { summaryLines } from '../../../../../report/summary.ts';
import { durationText } from '../../../../attempt-text.ts';
import { PLAIN_PALETTES } from '../../../../palette.ts';
import { loadLines, type LoadReplaySummary } from './load-summary.ts';

/** A line of a chart. */
interface ChartLine {
  readonly name: string;
  readonly color: string;
  readonly values: readonly (number | null)[];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [860, 200, 64, 22];
const GRID_LINES = 4;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
pre{overflow-x:auto}svg{width:100%;height:auto}svg text{font-size:11px;fill:#666}.held{color:#187a3a}.broken,.invalid{color:#b3261e}`;

/** Writes a load as one HTML file: its charts as SVG, and the text of the terminal. It loads nothing, and has no script. */
export function loadReport(summary: LoadReplaySummary, points: readonly TimelinePoint[]): string {
  const of = (value: (point: TimelinePoint) => number | null): (number | null)[] => points.map(value);
  const seconds = points.at(-1)?.second ?? 0;
  const { load } = summary;
  const text = [...summaryLines(summary), ...loadLines(load, PLAIN_PALETTES)].join('\n');
  const title = `Load ${load.shape} on ${load.url}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeXml(title)}</h1>
<p class="${load.verdict}">Verdict: ${load.verdict}</p>
<pre>${escapeLines(text)}</pre>
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
</html>
`;
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
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
