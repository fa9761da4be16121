import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';
import { HASH_SEED, MEMBER_END, hashByte } from '../entry.ts';
import { CsvLines, parseCsv } from './csv-lines.ts';
import { JsonLines } from './json-lines.ts';
import { trimmedId, type LineReader, type MemberTarget } from './member-target.ts';
import { endsInCr } from './whole-lines.ts';

export interface ReadMembersOptions {
  /** The column or field that holds the user's id. @default 'userId' */
  readonly idColumn?: string | undefined;
  /** The same of a computed trait's value. @default 'value' */
  readonly valueColumn?: string | undefined;
  /** Values in CSV are texts, also those that look like JSON. @default false */
  readonly areTexts?: boolean | undefined;
}

export interface Head {
  /** The first line that is not blank, without its end. */
  readonly text: string;
  readonly line: number;
}

export interface MembersLayout {
  readonly reader: LineReader;
  /** The first line is a header. */
  readonly hasHeader: boolean;
}

const ID_COLUMN = 'userId';
const VALUE_COLUMN = 'value';
const DELIMITERS = [',', ';', '\t'];

/** Tells the layout of an input by its first line: NDJSON, CSV with a header, or one id a line. Throws InputError. */
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
    throw target.problem(line, 'Expected one object a line, got a JSON array', "unpack it: jq -c '.[]' FILE");
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
  // A quotation mark within an id is a part of it.
  if (!text.startsWith('"') && !text.includes(delimiter)) return { delimiter, names: [text] };
  const [first] = await parseCsv(Buffer.from(text), delimiter, (_, message) => target.problem(line, message));
  return { delimiter, names: first?.record ?? [] };
}

/** A file whose column is named by an option has a header; a single text that is not `userId` is an id. */
function isHeader(
  { names }: HeaderNames,
  { kind }: MemberTarget,
  { idColumn, valueColumn }: ReadMembersOptions,
): boolean {
  if (kind === 'trait' || idColumn !== undefined || valueColumn !== undefined) return true;
  return names.length > 1 || isNamed(names[0] ?? '', ID_COLUMN);
}

/** `user_id` and `User ID` are meant by `userId` too. */
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
  throw target.problem(line, message, isOneColumn ? `${hint}, or leave ${flag} out for one id a line` : hint);
}

/** Rejects a first line that looks like a header: as an id, it would tell a user called `email`. */
function rejectWhatLooksLikeHeader(
  { names: [name = ''] }: HeaderNames,
  { line }: Head,
  target: MemberTarget,
): void {
  if (!/^(?:.*[\s_-])?(?:id|uid|uuid|email|user|username|name|member)$/i.test(name)) return;
  throw target.problem(
    line,
    `Expected an id, got \`${printable(name, 60)}\`, which looks like a header`,
    `for a header: --id-column ${printable(name, 60)}; an id of that name has to stand below another`,
  );
}

/** Up to the quotation mark are blanks, controls and whatever needs a second look. */
const QUOTE = 0x22;

/** One id a line. Blank lines say nothing; blanks around an id do not belong to it. */
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
    // One pass over the bytes finds the line's end and the id's hash.
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

  end(): void {}

  #addTrimmed(lines: Buffer, start: number, end: number): void {
    const id = trimmedId(lines.toString('utf8', start, end));
    if (id !== '') this.#target.add(id, true, this.#line);
  }
}
