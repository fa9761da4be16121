import type { Io } from '../io.ts';

/** A line of the service's log for a person at a terminal: the time, the level, what happened, and its fields. */
export function logText(line: string, color: Io['errColor']): string {
  const { level, time, msg, ...fields } = JSON.parse(line) as Record<string, unknown>; // the log writes objects
  const name = String(level);
  const paint = { error: color.red, warn: color.yellow, debug: color.dim }[name] ?? color.green;
  const facts = Object.entries(fields).map(([key, value]) => `${color.dim(`${key}=`)}${factText(value)}`);
  return [String(time).slice(11, 19), paint(name.padEnd(5)), String(msg), ...facts].join('  ');
}

function factText(value: unknown): string {
  const text = String(value);
  return /\s/.test(text) || text === '' ? JSON.stringify(text) : text;
}
