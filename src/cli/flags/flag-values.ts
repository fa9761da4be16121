import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../duration.ts';
import { ConfigError } from '../../errors.ts';

// The message of each InvalidArgumentError, such as "0 to 65535", completes the sentence "Expected `--port` to be …, got
// 99999", which usage-errors.ts writes.

/** Collects the values of a flag that may be repeated, in order. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Joins the lists of names of a flag that may be repeated. */
export function joinNames(value: string, before?: string): string {
  return before === undefined ? value : `${before},${value}`;
}

/** Returns the text of a flag. Rejects an empty text, which an unset variable leaves. */
export function given(text: string): string {
  if (text === '') throw new InvalidArgumentError('a non-empty text');
  return text;
}

/** Collects the values of a repeated flag or argument, and rejects empty ones. */
export function collectGiven(text: string, before?: readonly string[]): readonly string[] {
  return collect(given(text), before);
}

/** Returns a parser of whole numbers that are at least `least`. */
export function countFrom(least: number): (text: string) => number {
  return (text) => {
    const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (!(count >= least)) {
      throw new InvalidArgumentError(`a whole number from ${least} to 999999999`);
    }
    return count;
  };
}

/** Returns a parser of times with a unit, such as 30s. The parser returns ms, and rejects less than `leastMs`. */
export function timeFrom(leastMs: number): (text: string) => number {
  return (text) => {
    const durationMs = parseDuration(text);
    if (typeof durationMs === 'number' && durationMs >= leastMs) return durationMs;
    throw new InvalidArgumentError('a time with its unit, such as 500ms, 30s or 5m');
  };
}

export function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('0 to 65535');
  return port;
}

type Flag = `--${string}`;

/** The other flags that a flag needs or excludes. */
export interface FlagRule {
  readonly flag: Flag;
  /** The flag without which this one has no effect. */
  readonly needs?: Flag;
  /** The flags that cannot be given with this one. */
  readonly excludes?: readonly Flag[];
  readonly hint: string;
}

/**
 * Throws ConfigError for flags that exclude or need each other. `flags` has the values by commander's names, undefined if
 * not given.
 */
export function rejectConflicts(flags: object, rules: readonly FlagRule[]): void {
  const values: Readonly<Record<string, unknown>> = { ...flags };
  const isGiven = (flag: Flag): boolean => values[new Option(flag).attributeName()] !== undefined;
  for (const { flag, needs, excludes = [], hint } of rules) {
    if (!isGiven(flag)) continue;
    if (needs !== undefined && !isGiven(needs)) {
      throw flagError(flag, `\`${flag}\` is for \`${needs}\`, which is not given`, hint);
    }
    const other = excludes.find(isGiven);
    if (other === undefined) continue;
    throw flagError(flag, `\`${flag}\` and \`${other}\` cannot be given together`, hint);
  }
}

/** Creates the error for a wrong flag or wrong combination of flags. */
export function flagError(flag: string, sentence: string, hint?: string): ConfigError {
  return new ConfigError(sentence, { flag, hint });
}
