import ms, { type StringValue } from 'ms';

/**
 * The problem of a text that is not a duration. `expected` completes the sentence "Expected `x` …", such as `to be a
 * duration`.
 */
export interface NotADuration {
  readonly expected: string;
  readonly hint: string;
}

const PART = String.raw`\d+(?:\.\d+)?\s*[a-z]+`;
const DURATION = new RegExp(`^${PART}(?:\\s*${PART})*$`, 'i');

/**
 * Parses `250ms`, `5s`, `4h`, `30d`, `1h30m`, `0` to milliseconds. Rejects a number without a unit: 5 could mean seconds
 * or milliseconds, and a wrong guess would make every attempt time out or none. Zero needs no unit. Negative numbers are
 * parsed, so that the caller can report the allowed range.
 */
export function parseDuration(value: string | number): number | NotADuration {
  const text = String(value).trim();
  if (/^-?\d+(\.\d+)?$/.test(text)) return withoutUnit(Number(text));
  if (text.startsWith('-')) return negative(text);
  if (!DURATION.test(text)) return NO_DURATION;
  const parts = [...text.matchAll(new RegExp(PART, 'gi'))].map(([part]) => ms(part as StringValue)); // `ms` returns undefined for an unknown unit
  if (!parts.every(Number.isFinite)) return NO_DURATION;
  return Math.round(parts.reduce((sum, part) => sum + part, 0));
}

const NO_DURATION: NotADuration = {
  expected: 'to be a duration',
  hint: 'write a number with a unit: 250ms, 5s, 10m, 4h, 30d',
};

function withoutUnit(count: number): number | NotADuration {
  if (count <= 0) return count;
  return { expected: 'to have a unit', hint: `write ${count}ms for milliseconds, ${count}s for seconds` };
}

function negative(text: string): number | NotADuration {
  const positive = parseDuration(text.slice(1));
  return typeof positive === 'number' ? -positive : positive;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Formats a duration as the shortest text that `parseDuration` reads back: 5400000 is `1h30m`. */
export function formatDuration(durationMs: number): string {
  let left = durationMs;
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) text += `${count}${unit}`;
    left -= count * size;
  }
  return text === '' ? '0' : text;
}
