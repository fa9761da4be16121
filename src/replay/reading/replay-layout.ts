import { COMMA, LF, OPEN_BRACE, OPEN_BRACKET, skipBlanks } from '../../message/json/bytes.ts';
import { ValueScan } from '../../message/json/value-scan.ts';

/** `lines`: one entry per line (NDJSON). `document`: a JSON document, in which brackets show where each entry ends. */
export type ReplayLayout = 'lines' | 'document';

/** Maximum bytes of the first line that are examined. An input with a longer first line is a `document`. */
export const HEAD_BYTES = 64 * 1024;

/**
 * Recognizes the layout of an input by its first lines. `head` begins at the first byte that is not white space. Returns
 * undefined if more bytes are needed.
 */
export function replayLayoutOf(head: Buffer, isComplete: boolean): ReplayLayout | undefined {
  if (head[0] === OPEN_BRACKET) return 'document';
  const first = headLineAt(head, 0);
  if (first === undefined && !isComplete && head.length < HEAD_BYTES) return undefined;
  // Reads a text that begins with neither `[` nor `{` as lines, so that only its lines that do not begin a JSON object are
  // rejected.
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
  // Needs the third line to decide, because the second line may belong to one object: `{"properties":⏎{…}⏎}`.
  const third = skipBlanks(head, line.end);
  if (third < head.length) return head[third] === OPEN_BRACE ? 'lines' : 'document';
  return isComplete || head.length >= HEAD_BYTES ? 'lines' : undefined;
}

const BETWEEN_ENTRIES: readonly number[] = [OPEN_BRACE, OPEN_BRACKET, COMMA];

interface HeadLine {
  /**
   * The content of one of the first lines of an input: one object, the start of an object, an object and more, or an object
   * so broken that no later line completes it.
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
