import { escapeInJson } from '../redact.ts';

/** Formats a value as a line of NDJSON. Escapes control characters, so that a terminal can show it. */
export function jsonLine(value: object): string {
  return `${escapeInJson(JSON.stringify(value))}\n`;
}
