import { systemClock } from '../clock.ts';
import { parseDuration } from '../duration.ts';
import { readTimestamp } from './timestamp.ts';
import type { JsonValue } from './types.ts';

/** A test of a value in a message; undefined: there is none. */
export type ValueTest = (found: JsonValue | undefined) => boolean;

/**
 * Compares with a number, or with a time: a timestamp, `now`, `now-1h`. A text is no number, so that a number sent as text meets
 * nothing. Undefined: the value is neither.
 */
export function comparison(value: string, test: (difference: number) => boolean): ValueTest | undefined {
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(value)) {
    const bound = Number(value);
    return (found) => typeof found === 'number' && test(found - bound);
  }
  const timeOf = timeReader(value);
  if (timeOf === undefined) return undefined;
  return (found) => {
    const time = typeof found === 'string' ? timestampMs(found) : undefined;
    return time !== undefined && test(time - timeOf());
  };
}

/** How a value is compared as text, and shown. */
export function comparableText(found: JsonValue): string {
  return typeof found === 'string' ? found : JSON.stringify(found);
}

/** `now` is the time of each comparison: a receiver may run for days. */
function timeReader(value: string): (() => number) | undefined {
  const time = timestampMs(value);
  if (time !== undefined) return () => time;
  const [, sign, duration] = /^now(?:\s*([+-])\s*(\S+))?$/.exec(value) ?? [undefined, undefined, ''];
  if (duration === '') return undefined;
  const ms = duration === undefined ? 0 : parseDuration(duration);
  if (typeof ms !== 'number') return undefined;
  return () => systemClock.now() + (sign === '-' ? -ms : ms);
}

/** A day alone is its first moment in UTC. */
function timestampMs(text: string): number | undefined {
  const reading = readTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  return reading.ok ? Date.parse(reading.iso) : undefined;
}
