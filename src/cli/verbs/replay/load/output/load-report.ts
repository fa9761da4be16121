import type { TimelinePoint } from '../../../../../replay/load/timeline.ts';
import { escapeXml } from '../../../../../report/xml.ts';
import { summaryLines } from '../../../../../report/summary.ts';
import { durationText } from '../../../../attempt-text.ts';
import { PLAIN_PALETTES } from '../../../../palette.ts';
import { loadLines, loadVerdictText, type LoadReplaySummary } from './load-summary.ts';

/** The lines of a chart: the fields of the points to draw, each with its color. */
type ChartLines = Partial<Record<Exclude<keyof TimelinePoint, 'second'>, string>>;

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [860, 200, 64, 22];
const GRID_LINES = 4;

const STYLE = `body{font:15px/1.5 system-ui,sans-serif;max-width:56rem;margin:2rem auto;padding:0 1rem;color:#1b1b1f;background:#fff}
pre{overflow-x:auto}svg{width:100%;height:auto}svg text{font-size:11px;fill:#666}.verdict{color:#b3261e}.held{color:#187a3a}`;

/**
 * Returns the HTML report of a load: the verdict, the text of the summary, and charts as SVG. The page has no scripts
 * and loads no other files.
 */
export function loadReport(summary: LoadReplaySummary, points: readonly TimelinePoint[]): string {
  const { load } = summary;
  const text = [...summaryLines(summary), ...loadLines(summary, PLAIN_PALETTES)].join('\n');
  const title = `Load ${load.shape} on ${load.url}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeXml(title)}</title>
<style>${STYLE}</style>
<h1>${escapeXml(title)}</h1>
<p class="verdict ${load.verdict}">Verdict: ${escapeXml(loadVerdictText(summary))}</p>
<pre>${escapeLines(text)}</pre>
<h2>Latency</h2>
${chart(points, { max: '#bbb', p99: '#b3261e', p50: '#2457c5' }, durationText)}
<h2>Messages per second</h2>
${chart(points, { rate: '#187a3a', errors: '#b3261e' }, (rate) => String(Math.round(rate)))}
</html>
`;
}

function escapeLines(text: string): string {
  return text.split('\n').map(escapeXml).join('\n');
}

function chart(
  points: readonly TimelinePoint[],
  chartLines: ChartLines,
  text: (value: number) => string,
): string {
  const series = Object.entries(chartLines).map(([name, color]) => ({
    name,
    color,
    values: points.map((point) => point[name as keyof TimelinePoint]), // ChartLines has only such names
  }));
  const known = series.flatMap(({ values }) => values.flatMap((value) => value ?? []));
  if (known.length === 0) return '<p>No values.</p>';
  const top = Math.max(1e-9, ...known);
  const y = (value: number): string => (10 + (1 - value / top) * (HEIGHT - BOTTOM - 10)).toFixed(1);
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, index) => {
    const value = (top * index) / GRID_LINES;
    const label = `<text x="${LEFT - 6}" y="${y(value)}" text-anchor="end">${escapeXml(text(value))}</text>`;
    return `<path d="M${LEFT} ${y(value)}H${WIDTH}" stroke="#eee"/>${label}`;
  });
  const step = (WIDTH - LEFT) / Math.max(1, points.length - 1);
  const lines = series.map(({ name, color, values }, line) => {
    // Leaves a gap in the line where a value is missing.
    const path = values.map((value, index) => {
      const isStart = (values[index - 1] ?? null) === null;
      return value === null ? '' : `${isStart ? 'M' : 'L'}${(LEFT + index * step).toFixed(1)} ${y(value)}`;
    });
    const legend = `<text x="${LEFT + 8 + line * 110}" y="${HEIGHT - 6}" style="fill:${color}">— ${name}</text>`;
    return `<path d="${path.join('')}" fill="none" stroke="${color}" stroke-width="1.5"/>${legend}`;
  });
  const seconds = points.at(-1)?.second ?? 0;
  const end = `<text x="${WIDTH}" y="${HEIGHT - 6}" text-anchor="end">${escapeXml(durationText(seconds * 1_000))}</text>`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">${[...grid, ...lines, end].join('')}</svg>`;
}
