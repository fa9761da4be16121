import type { TimelinePoint } from '../../../../../replay/load/timeline.ts';
import { durationText } from '../../../../attempt-text.ts';

const LEVELS = ' ▁▂▃▄▅▆▇█';
const ROWS = 4;
const LABEL_WIDTH = 9;

/**
 * Draws the rate and the p99 latency over time as two bar charts of text, with one column per point. Returns no lines
 * for fewer than two points.
 */
export function plotLines(points: readonly TimelinePoint[]): string[] {
  if (points.length < 2) return [];
  const last = points.at(-1)?.second ?? 0;
  const axis = `${' '.repeat(LABEL_WIDTH)} └${'─'.repeat(points.length)} ${durationText(last * 1_000)}`;
  const rates = columnsOf(
    points.map(({ rate }) => rate),
    (rate) => `${Math.round(rate)}/s`,
  );
  const times = columnsOf(
    points.map(({ p99 }) => p99 ?? 0),
    durationText,
  );
  return ['acknowledged per second', ...rates, axis, 'latency p99', ...times, axis];
}

/** Returns the number of points that fit in a terminal with this many columns. */
export function plotWidth(columns: number): number {
  return Math.max(2, columns - LABEL_WIDTH - 12);
}

function columnsOf(values: readonly number[], text: (value: number) => string): string[] {
  const top = Math.max(...values, Number.MIN_VALUE);
  return Array.from({ length: ROWS }, (_, row) => {
    const base = ROWS - 1 - row;
    const cells = values.map((value) => levelOf((value / top) * ROWS - base));
    const label = row === 0 ? text(top) : row === ROWS - 1 ? '0' : '';
    return `${label.padStart(LABEL_WIDTH)} │${cells.join('')}`;
  });
}

/** Returns the block character that fills this share of a cell. */
function levelOf(share: number): string {
  const level = Math.round(Math.min(1, Math.max(0, share)) * (LEVELS.length - 1));
  return LEVELS.charAt(level);
}
