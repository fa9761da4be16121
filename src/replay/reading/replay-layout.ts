import { COMMA, LF, OPEN_BRACE, OPEN_BRACKET, skipBlanks } from '../../message/json/bytes.ts';
import { ValueScan } from '../../message/json/value-scan.ts';

/** `lines`: one entry per line (NDJSON). `document`: JSON in which brackets, not line breaks, show where an entry ends. */
export type ReplayLayout = 'lines' | 'document';

/** Number of bytes after which the layout is decided, even if the first lines are not complete. */
export const HEAD_BYTES = 64 * 1024;

/**
 * Recognizes the layout of an input by its first lines. `head` begins at the first byte that is not white space.
 * `isComplete`: the input ends with `head`. Returns undefined if more bytes are needed.
 */
export function replayLayoutOf(head: Buffer, isComplete: boolean): ReplayLayout | undefined {
  if (head[0] === OPEN_BRACKET) return 'document';
  const first = headLineAt(head, 0);
  if (first === undefined && !isComplete && head.length < HEAD_BYTES) return undefined;
  // Treats text that begins with neither `[` nor `{` as lines, so that each line that is not JSON is rejected separately.
  if (head[0] !== OPEN_BRACE) return 'lines';
  const { holds, end } = first ?? headLine(head, 0, head.length);
  if (holds === 'part') return layoutAfterPart(head, end, isComplete);
  return holds === 'several' ? 'document' : 'lines';
}

/** Returns the layout of an input whose first line does not close its object: pretty-printed JSON, or broken NDJSON. */
function layoutAfterPart(head: Buffer, end: number, isComplete: boolean): ReplayLayout | undefined {
  const second = skipBlanks(head, end);
  if (second === head.length) return isComplete || head.length >= HEAD_BYTES ? 'document' : undefined;
  if (head[second] !== OPEN_BRACE) return 'document';
  const line = headLineAt(head, second) ?? (isComplete ? headLine(head, second, head.length) : undefined);
  if (line === undefined) return head.length >= HEAD_BYTES ? 'document' : undefined;
  if (line.holds !== 'object') return 'document';
  // Looks at the third line, because the second can be a value in the object of the first: `{"properties":⏎{…}⏎}`.
  const third = skipBlanks(head, line.end);
  if (third < head.length) return head[third] === OPEN_BRACE ? 'lines' : 'document';
  return isComplete || head.length >= HEAD_BYTES ? 'lines' : undefined;
}

const BETWEEN_ENTRIES: readonly number[] = [OPEN_BRACE, OPEN_BRACKET, COMMA];

interface HeadLine {
  /**
   * Content of a line that begins with `{`. `object`: one object. `part`: the start of an object. `several`: an object, and
   * then a comma, `{` or `[`. `broken`: anything else, which later lines cannot complete.
   */
  readonly holds: 'object' | 'part' | 'several' | 'broken';
  readonly end: number;
}

function headLineAt(head: Buffer, start: number): HeadLine | undefined {
  const end = head.indexOf(LF, start);
  return end === -1 ? undefined : headLine(head, start, end);
}

function headLine(head: Buffer, start: number, end: number): HeadLine {
  const line = head.subarray(0, end);
  const scan = new ValueScan();
  scan.begin(OPEN_BRACE);
  let event = scan.scan(line, start + 1);
  while (event === 'list') event = scan.scan(line, scan.at);
  if (event === 'more') return { holds: 'part', end };
  const next = event === 'closed' ? skipBlanks(line, scan.at + 1) : -1;
  if (next === end) return { holds: 'object', end };
  return { holds: BETWEEN_ENTRIES.includes(line[next] ?? 0) ? 'several' : 'broken', end };
}
