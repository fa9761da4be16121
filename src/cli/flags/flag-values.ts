import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../duration.ts';

/** Of a flag that may be repeated: its values, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Not what an unset variable leaves empty. */
export function given(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a value, got an empty text.');
  return text;
}

/** The same of a flag that may be repeated, or of an argument. */
export function collectGiven(text: string, before?: readonly string[]): readonly string[] {
  return collect(given(text), before);
}

/** A whole number, this or more. */
export function countFrom(least: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(count >= least)) throw new InvalidArgumentError(`Expected a whole number from ${least}.`);
    return count;
  };
}

/** Ms, so many or more, as a time with its unit. */
export function timeFrom(leastMs: number): (text: string) => number {
  return (text) => {
    const durationMs = parseDuration(text);
    if (typeof durationMs === 'number' && durationMs >= leastMs) return durationMs;
    throw new InvalidArgumentError('Expected a time with its unit, such as 500ms, 30s or 5m.');
  };
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return port;
}
