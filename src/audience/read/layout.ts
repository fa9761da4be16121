import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';
import { HASH_SEED, MEMBER_END, hashByte } from '../entry.ts';
import { CsvLines, parseCsv } from './csv-lines.ts';
import { JsonLines } from './json-lines.ts';
import { trimmedId, type LineReader, type MemberTarget } from './member-target.ts';
import { endsInCr } from './whole-lines.ts';

export interface ReadMembersOptions {
  /** Column or field of the user id. @default 'userId' */
  readonly idColumn?: string | undefined;
  /** Column or field of the value of a computed trait. @default 'value' */
  readonly valueColumn?: string | undefined;
  /** Whether values in CSV are always strings, even if they look like JSON. @default false */
  readonly areTexts?: boolean | undefined;
}

/** First line of an input, which shows its layout. */
export interface Head {
  /** First line of the input that is not blank, without its line break. */
  readonly text: string;
  readonly line: number;
}

export interface MembersLayout {
  readonly reader: LineReader;
  /** Whether the first line of the input is a header. */
  readonly hasHeader: boolean;
}

const ID_COLUMN = 'userId';
const VALUE_COLUMN = 'value';
const DELIMITERS = [',', ';', '\t'];

/**
 * Detects the layout of an input by its first line: NDJSON, CSV with a header, or one id per line. Throws InputError if the
 * line is wrong.
 */
export async function membersLayoutOf(
  head: Head,
  target: MemberTarget,
  options: ReadMembersOptions,
): Promise<MembersLayout> {
  const { text, line } = head;
  const columns = { id: options.idColumn ?? ID_COLUMN, value: options.valueColumn ?? VALUE_COLUMN };
  if (text.includes('\r')) throw endsInCr({ file: target.file, line });
  if (text.startsWith('{')) return { reader: new JsonLines(target, columns, line), hasHeader: false };
  if (text.startsWith('[')) {
    throw target.problem(
      line,
      'Expected one object per line, got a JSON array',
      "convert it: jq -c '.[]' FILE",
    );
  }
  const names = await namesIn(head, target);
  if (isHeader(names, target, options)) {
    return { reader: csvReader(names, head, target, options), hasHeader: true };
  }
  rejectWhatLooksLikeHeader(names, head, target);
  return { reader: new IdLines(target, line), hasHeader: false };
}

interface HeaderNames {
  readonly delimiter: string;
  readonly names: readonly string[];
}

async function namesIn({ text, line }: Head, target: MemberTarget): Promise<HeaderNames> {
  const unquoted = text.replace(/"(?:[^"]|"")*"/g, '');
  const delimiter = DELIMITERS.find((each) => unquoted.includes(each)) ?? ',';
  // Takes a line as one id if a quotation mark is only inside it, because that mark belongs to the id.
  if (!text.startsWith('"') && !text.includes(delimiter)) return { delimiter, names: [text] };
  const [first] = await parseCsv(Buffer.from(text), delimiter, (_, message) => target.problem(line, message));
  return { delimiter, names: first?.record ?? [] };
}

/**
 * Whether the first line is a header. The values of a trait always have a header. Members have one if an option names a
 * column, or if the first line has several columns or is `userId`.
 */
function isHeader(
  { names }: HeaderNames,
  { kind }: MemberTarget,
  { idColumn, valueColumn }: ReadMembersOptions,
): boolean {
  if (kind === 'trait' || idColumn !== undefined || valueColumn !== undefined) return true;
  return names.length > 1 || isNamed(names[0] ?? '', ID_COLUMN);
}

/** Whether the name of a column matches: `user_id` and `User ID` match `userId`. */
function isNamed(name: string, column: string): boolean {
  return name === column || plain(name) === plain(column);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[\s_-]/g, '');
}

function csvReader(
  { delimiter, names }: HeaderNames,
  { line }: Head,
  target: MemberTarget,
  options: ReadMembersOptions,
): LineReader {
  const id = columnOf(names, options.idColumn ?? ID_COLUMN, { flag: '--id-column', line, target });
  const value =
    target.kind === 'trait'
      ? columnOf(names, options.valueColumn ?? VALUE_COLUMN, { flag: '--value-column', line, target })
      : undefined;
  const areTexts = options.areTexts ?? false;
  return new CsvLines(target, { delimiter, columns: names.length, id, value, areTexts }, line + 1);
}

function columnOf(
  names: readonly string[],
  column: string,
  { flag, line, target }: { readonly flag: string; readonly line: number; readonly target: MemberTarget },
): number {
  const exact = names.indexOf(column);
  const at = exact === -1 ? names.findIndex((name) => isNamed(name, column)) : exact;
  if (at !== -1) return at;
  const near = closest(column, names);
  const listed = names.map((name) => `\`${printable(name, 60)}\``).join(', ');
  const message = `Expected a header with the column \`${column}\`, got ${listed || 'nothing'}`;
  const isOneColumn = names.length === 1 && target.kind === 'audience';
  const hint =
    near === undefined ? `name the column with ${flag}` : `did you mean ${flag} ${printable(near, 60)}?`;
  throw target.problem(
    line,
    message,
    isOneColumn ? `${hint}, or leave ${flag} out for one id per line` : hint,
  );
}

/** Rejects a first line that looks like a header: as an id, it would create a user called `email`. */
function rejectWhatLooksLikeHeader(
  { names: [name = ''] }: HeaderNames,
  { line }: Head,
  target: MemberTarget,
): void {
  if (!/^(?:.*[\s_-])?(?:id|uid|uuid|email|user|username|name|member)$/i.test(name)) return;
  throw target.problem(
    line,
    `Expected an id, got \`${printable(name, 60)}\`, which looks like a header`,
    `if it is a header, pass --id-column ${printable(name, 60)}; if it is an id, put another id above`,
  );
}

/**
 * Largest byte that may not belong to an id as it is: the quotation mark. Line breaks, control characters and blanks are
 * smaller.
 */
const QUOTE = 0x22;

/** Reads one id per line. Ignores blank lines, and blanks around an id. */
class IdLines implements LineReader {
  readonly #target: MemberTarget;
  #line: number;

  constructor(target: MemberTarget, line: number) {
    this.#target = target;
    this.#line = line;
  }

  take(lines: Buffer): void {
    const { spill } = this.#target;
    let start = 0;
    let hash = HASH_SEED;
    // Finds the ends of lines and the hashes of ids in one pass.
    for (let at = 0; at < lines.length; at++) {
      const byte = lines[at] ?? 0;
      if (byte > QUOTE) {
        hash = hashByte(hash, byte);
        continue;
      }
      const end = byte === MEMBER_END ? at : lines.indexOf(MEMBER_END, at);
      if (byte === MEMBER_END && at > start) {
        this.#target.validateId(at - start, this.#line);
        spill.addHashed(lines, start, at, hash);
      } else if (end > start) {
        this.#addTrimmed(lines, start, end);
      }
      this.#line++;
      at = end;
      start = end + 1;
      hash = HASH_SEED;
    }
  }

  #addTrimmed(lines: Buffer, start: number, end: number): void {
    const id = trimmedId(lines.toString('utf8', start, end));
    if (id !== '') this.#target.add(id, true, this.#line);
  }
}
