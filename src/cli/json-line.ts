import { escapeInJson } from '../redact.ts';

/** Formats a value as a line of NDJSON that means exactly the value, and that a terminal may show as it is. */
export function jsonLine(value: object): string {
  return `${escapeInJson(JSON.stringify(value))}\n`;
}
