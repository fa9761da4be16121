import { printable } from '../../redact.ts';
import { flagError } from './flag-values.ts';

/** Parses the values of --header. Errors do not show a header's value, because `Authorization` can be one of them. */
export function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, [string, string]>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(colon, 0)).trim();
    const shown = printable(name, 80);
    if (name === '') {
      const sentence = "Expected `--header` to be 'Name: value', got no name and colon";
      throw flagError('--header', sentence, "give for example --header 'X-Env: staging'");
    }
    if (/[\r\n]/.test(line)) {
      const hint = 'give one --header for each header; a value read from a file often ends with a line break';
      throw flagError('--header', `\`--header\` ${shown} holds a line break`, hint);
    }
    const key = name.toLowerCase();
    if (headers.has(key)) {
      throw flagError('--header', `\`--header\` ${shown} is given twice`, 'leave one of them out');
    }
    headers.set(key, [name, line.slice(colon + 1).trim()]);
  }
  return Object.fromEntries(headers.values());
}
