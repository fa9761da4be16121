import stringWidth from 'fast-string-width';
import { wrapAnsi } from 'fast-wrap-ansi';

/** Minimum width to wrap to, in columns. A narrower terminal breaks the lines itself. */
const MIN_WIDTH = 20;
/** Width to use without a terminal, in columns. Commander has the same default. */
export const DEFAULT_COLUMNS = 80;

/** Returns the width of a terminal, or undefined for a stream without one. A terminal of unknown size reports 0 columns. */
export function columnsOf({ columns }: { readonly columns?: number }): number | undefined {
  return columns === 0 ? DEFAULT_COLUMNS : columns;
}

/**
 * Wraps each line of a text at words to the width of a terminal. Continuation lines are indented to the start of the line's
 * text, after its label, such as `error:`. A URL that is wider than the terminal loses its middle; any other word stays
 * whole.
 * @param columns undefined without a terminal: the text stays unchanged, so that `grep` finds whole lines
 */
export function fitText(text: string, columns: number | undefined): string {
  if (columns === undefined) return text;
  const lines = text.split('\n');
  return lines.map((line) => (stringWidth(line) > columns ? fitLine(line, columns) : line)).join('\n');
}

/**
 * Replaces the middle of a text that is wider than `width` columns with `…`, because the ends of a URL tell the most. An
 * e-mail address loses its domain first, because users share it.
 */
export function truncateText(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const [local] = /^[^@/]+(?=@[^\s@"]+$)/.exec(text) ?? [];
  if (local !== undefined) {
    return stringWidth(local) < width ? truncateEnd(text, width) : truncateText(local, width);
  }
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  const kept = Math.max(width - 1, 0);
  const head = upTo(characters, Math.ceil(kept / 2));
  const tail = upTo(characters.toReversed(), kept - stringWidth(head.join('')));
  return [...head, '…', ...tail.toReversed()].join('');
}

/** Shortens a URL, with or without its scheme, to `width` columns. Keeps its port, which tells apart receivers of a host. */
export function truncateUrl(url: string, width: number): string {
  const [, origin = '', path = ''] = /^((?:\w+:\/\/)?[^/]*:\d+)(\/.*)$/s.exec(url) ?? [];
  const room = width - stringWidth(origin);
  if (origin === '' || stringWidth(url) <= width) return truncateText(url, width);
  return room < MIN_PATH_WIDTH ? truncateText(origin, width) : origin + truncateText(path, room);
}

/** Minimum width of a shortened path: `/a…b`. A path with less room is left out. */
const MIN_PATH_WIDTH = 4;

/** Replaces the end of a text that is wider than `width` columns with `…`. The start of a body tells the most. */
export function truncateEnd(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  const characters = Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
  return `${upTo(characters, Math.max(width - 1, 0)).join('')}…`;
}

function upTo(characters: readonly string[], width: number): readonly string[] {
  let used = 0;
  const end = characters.findIndex((character) => (used += stringWidth(character)) > width);
  return end === -1 ? characters : characters.slice(0, end);
}

/** Wraps a text to `width` columns. Every line but the first starts with `indent` spaces, which `width` does not include. */
export function wrapText(text: string, width: number, indent: number): string {
  const room = Math.max(width, MIN_WIDTH);
  const shortened = text.replace(URL_WORD, (url) => truncateUrl(url, room - 1));
  return wrapAnsi(shortened, room).replaceAll('\n', `\n${' '.repeat(indent)}`);
}

/** A URL, without the punctuation or the bracket that may follow it. */
const URL_WORD = /https?:\/\/(?:(?![\s\p{Cc}]).)+(?<![.,:;)])/gu;

/** Pads a text to a width in columns. CJK characters and emoji take two columns. */
export function padText(text: string, width: number, side: 'start' | 'end' = 'end'): string {
  const padding = ' '.repeat(Math.max(0, width - stringWidth(text)));
  return side === 'start' ? padding + text : text + padding;
}

const COLOR = String.raw`\u001b\[\d+m`;
/**
 * Matches a line's indentation, result mark and label. A label has at most three words; more are a sentence with a colon.
 */
const START = new RegExp(`^(?:${COLOR}| )*(?:(?:[✓✗!·∅≡]|[a-z]+(?: [a-z]+){0,2}:|Try:|\\$)(?:${COLOR}| )+)*`);

function fitLine(line: string, columns: number): string {
  const start = START.exec(line)?.[0] ?? '';
  const [text, indent] = [line.slice(start.length), stringWidth(start)];
  const width = columns - indent;
  return (
    start + (/(?:Try:|\$) $/.test(start) ? wrapCommand(text, width, indent) : wrapText(text, width, indent))
  );
}

/** Wraps a shell command with backslashes, so that it still works when pasted. */
export function wrapCommand(command: string, width: number, indent: number): string {
  const lines: string[] = [];
  for (const word of command.match(SHELL_WORD) ?? []) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && stringWidth(longer) <= width - 2) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines.join(` \\\n${' '.repeat(indent)}`);
}

/** A word of a shell command. Spaces within quotes do not end it. */
const SHELL_WORD = /(?:'[^']*'|"[^"]*"|[^\s'"]|['"])+/g;
