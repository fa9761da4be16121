/** A small change of a text that a person probably meant, and the line that it changes first. */
export interface Repair {
  /** Number of the line, from 1. */
  readonly line: number;
  /** How to repair the line: a verb phrase. Has no text of the file, which can be secret. */
  readonly fix: string;
}

type LineRepair = readonly [fix: string, pattern: RegExp, replacement: string];

const QUOTES: readonly LineRepair[] = [
  ['write plain quotes, not typographic ones', /[\u201c-\u201f]/g, '"'],
  ['write plain quotes, not typographic ones', /[\u2018-\u201b]/g, "'"],
];
const YAML: readonly LineRepair[] = [
  ...QUOTES,
  ['put a space after the colon', /^(\s*(?:- )?["']?[A-Za-z_][\w.-]*["']?:)(?=[^\s:/])/, '$1 '],
  ['put a space after the hyphen', /^(\s*-)(?=[\w"'])/, '$1 '],
  ['indent with spaces, not with a tab', /^[ \t]*\t[ \t]*/, '  '],
  ['indent with spaces, not with a tab', /^[ \t]*\t[ \t]*/, '    '],
  ['write a colon and a space in place of =', /^(\s*[A-Za-z_]\w*)\s*=\s*/, '$1: '],
  ['put quotes around the value', /^(\s*(?:- )?[A-Za-z_]\w*:|\s*-)\s+([^\s"'[{].*)$/, "$1 '$2'"],
  ['remove the comma at the end of the line', /,\s*$/, ''],
  ['close the quote', /^([^"']*"[^"]*)$/, '$1"'],
  ['close the quote', /^([^"']*'[^']*)$/, "$1'"],
  ['put the missing ] at the end of the line', /(\[[^\]]*)$/, '$1]'],
  ['put the missing } at the end of the line', /(\{[^}]*)$/, '$1}'],
];
const JSON_LINES: readonly LineRepair[] = [
  ...QUOTES,
  ['put double quotes around the key', /^(\s*\{?\s*)'?([A-Za-z_]\w*)'?(\s*:)/, '$1"$2"$3'],
  ['put double quotes around the string, not single ones', /'([^'"]*)'/g, '"$1"'],
  ['put the missing comma at the end of the line', /^(.*["\d\w\]}])\s*$/, '$1,'],
  ['remove the comment, which JSON does not have', /(?:^|\s)(?:\/\/|#).*$/, ''],
];

/** Finds the only small repair after which a text in YAML parses. Undefined if no repair does, or several do. */
export function repairYaml(text: string, parses: (text: string) => boolean): Repair | undefined {
  return onlyRepair(byLine(text, YAML), parses);
}

/** Finds the only small repair after which a text in JSON parses. Undefined if no repair does, or several do. */
export function repairJson(text: string): Repair | undefined {
  const repaired = [...byLine(text, JSON_LINES), ...ofWhole(text)];
  return onlyRepair(repaired, parsesAsJson);
}

interface RepairedText extends Repair {
  readonly repaired: string;
}

/** Longest text, in characters, that is repaired: each candidate is parsed. */
const LONGEST_TEXT = 20_000;

function onlyRepair(
  candidates: Iterable<RepairedText>,
  parses: (text: string) => boolean,
): Repair | undefined {
  const found = new Map<string, Repair>();
  for (const { line, fix, repaired } of candidates) {
    if (!found.has(fix) && parses(repaired)) found.set(fix, { line, fix });
    if (found.size > 1) return undefined;
  }
  return [...found.values()][0];
}

/** Applies each repair to each line alone, then to all lines at once. */
function* byLine(text: string, repairs: readonly LineRepair[]): Generator<RepairedText> {
  if (text.length > LONGEST_TEXT) return;
  const lines = text.split('\n');
  for (const [fix, pattern, replacement] of repairs) {
    const changed = lines.map((line) => line.replace(pattern, replacement));
    const at = lines.flatMap((line, index) => (changed[index] === line ? [] : [index]));
    if (at[0] === undefined) continue;
    for (const index of at.slice(0, MOST_LINES)) {
      yield { line: index + 1, fix, repaired: lines.with(index, changed[index] ?? '').join('\n') };
    }
    yield { line: at[0] + 1, fix, repaired: changed.join('\n') };
  }
}

/** Lines that each repair is tried on alone. */
const MOST_LINES = 50;

/** Repairs of JSON that concern the end of an object: an extra comma, and missing brackets. */
function* ofWhole(text: string): Generator<RepairedText> {
  if (text.length > LONGEST_TEXT) return;
  const comma = /,(?=\s*[}\]])/.exec(text);
  if (comma) {
    const repaired = text.replaceAll(/,(?=\s*[}\]])/g, '');
    yield { line: lineAt(text, comma.index), fix: 'remove the comma before the closing bracket', repaired };
  }
  for (const closers of [']', '}', ']}', '}]', '}}']) {
    const line = lineAt(text, text.trimEnd().length);
    yield { line, fix: `put the missing ${closers} at the end of the file`, repaired: text + closers };
  }
}

export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function parsesAsJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
