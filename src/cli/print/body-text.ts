import type { HeaderPair } from '../../capture/capture.ts';
import { parseJsonOrUndefined } from '../../message/json/batch-document.ts';
import { printable } from '../../redact.ts';
import { isObject } from '../../validate-options.ts';
import type { Screen } from '../io.ts';
import type { Paint, Palette } from '../palette.ts';

/** Maximum characters of a body that are printed. */
const MAX_BODY = 100_000;

/** Maximum depth of indented JSON. Without it, the indents of `[[[[…` grow with the square of the body. */
const MAX_DEPTH = 50;

/**
 * Formats a body for `-v`: at a terminal JSON on indented, colored lines, elsewhere the text in one line, as it came. A body is
 * not wrapped, so that it can be copied. Escapes control characters.
 */
export function bodyText(bytes: Uint8Array, indent: string, { color, stdoutColumns }: Screen): string {
  const text = Buffer.from(bytes).toString();
  if (stdoutColumns === undefined) return indent + printable(text, MAX_BODY);
  const left = text.length - MAX_BODY;
  const shown = left <= 0 && isJson(bytes) ? indentedJson(text, color) : undefined;
  if (shown !== undefined) return shown.replaceAll(/^/gm, indent);
  const more = left > 0 ? ` ${color.dim(`(${left} more characters)`)}` : '';
  return indent + printable(text, MAX_BODY) + more;
}

/** Formats header lines: `name: value`. The values of secret headers are masked already. */
export function headerText(headers: readonly HeaderPair[], indent: string, { color }: Screen): string {
  const lines = headers.map(
    ([name, value]) => `${indent}${color.dim(`${printable(name)}:`)} ${printable(value, 2_000)}`,
  );
  return lines.join('\n');
}

function isJson(bytes: Uint8Array): boolean {
  const value = parseJsonOrUndefined(bytes);
  return isObject(value) || Array.isArray(value);
}

/** A string, a number or word, or a sign of JSON. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g;

/**
 * Puts each member of JSON on a line of its own. Numbers stay as they are written: 12345678901234567890, 1.0. Undefined if the
 * JSON is nested too deeply.
 */
function indentedJson(json: string, color: Palette): string | undefined {
  const tokens = json.match(TOKEN) ?? [];
  let [text, depth] = ['', 0];
  const newLine = (): string => `\n${'  '.repeat(depth)}`;
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1];
    const isEmpty = /[{[]/.test(token) && token.length === 1 && /^[}\]]$/.test(next ?? '');
    if (token === '{' || token === '[') {
      depth++;
      if (depth > MAX_DEPTH) return undefined;
      text += isEmpty ? token : token + newLine();
    } else if (token === '}' || token === ']') {
      depth--;
      const isAfterOpen = /^[{[]$/.test(tokens[index - 1] ?? '');
      text += isAfterOpen ? token : newLine() + token;
    } else if (token === ',') text += token + newLine();
    else if (token === ':') text += ': ';
    else text += paintOf(token, next, color)(printable(token, MAX_BODY));
  }
  return text;
}

function paintOf(token: string, next: string | undefined, color: Palette): Paint {
  if (next === ':') return color.bold;
  return token.startsWith('"') ? color.green : color.yellow;
}
