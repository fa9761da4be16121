import { systemClock } from '../clock.ts';
import { parseDuration } from '../duration.ts';
import { readTimestamp } from './timestamp.ts';
import type { JsonValue } from './types.ts';

/** Tests a value of a message; undefined if the message has no such value. */
export type ValueTest = (found: JsonValue | undefined) => boolean;

/**
 * Makes a test that compares with a number or with a time: a timestamp, `now`, `now-1h`. A number that was sent as a string
 * never meets the test. Undefined if `value` is neither a number nor a time.
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

/** The text by which a value is compared and shown: a string itself, other values as JSON. */
export function comparableText(found: JsonValue): string {
  return typeof found === 'string' ? found : JSON.stringify(found);
}

/** Returns a function because `now` means the time of each comparison: a receiver can run for days. */
function timeReader(value: string): (() => number) | undefined {
  const time = timestampMs(value);
  if (time !== undefined) return () => time;
  const [, sign, duration] = /^now(?:\s*([+-])\s*(\S+))?$/.exec(value) ?? [undefined, undefined, ''];
  if (duration === '') return undefined;
  const ms = duration === undefined ? 0 : parseDuration(duration);
  if (typeof ms !== 'number') return undefined;
  return () => systemClock.now() + (sign === '-' ? -ms : ms);
}

/** Reads a timestamp, or a date without a time as midnight in UTC. */
function timestampMs(text: string): number | undefined {
  const reading = readTimestamp(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  return reading.ok ? Date.parse(reading.iso) : undefined;
}
