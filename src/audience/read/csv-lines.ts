import { isJson, readJsonString } from '../../message/json/read-json.ts';
import { HooksError } from '../../errors.ts';
import type { JsonValue } from '../../message/types.ts';
import { MEMBER_END } from '../entry.ts';
import { countLines } from './whole-lines.ts';
import { BLANK, trimmedId, type LineReader, type MemberTarget } from './member-target.ts';

const CR = 0x0d;
const QUOTE = 0x22;
/** Maximum bytes of a CSV record: in a longer one, a quotation mark is not closed. */
const MAX_RECORD_BYTES = 1024 * 1024;

export interface CsvLayout {
  /** The delimiter: one ASCII character. */
  readonly delimiter: string;
  readonly columns: number;
  /** Index of the CSV column of the user id. `value`: index of the column of a computed trait's value. */
  readonly id: number;
  readonly value: number | undefined;
  /** Whether values are always strings, even if they look like JSON. */
  readonly areTexts: boolean;
}

/** Reads CSV after its header. Splits lines without quotation marks itself, and others with csv-parse, which is slower. */
export class CsvLines implements LineReader {
  readonly #target: MemberTarget;
  readonly #layout: CsvLayout;
  readonly #delimiter: number;
  #line: number;
  /** Start of a CSV record whose quotation mark is not closed in the lines read so far. */
  #open: Buffer = Buffer.alloc(0);

  constructor(target: MemberTarget, layout: CsvLayout, line: number) {
    this.#target = target;
    this.#layout = layout;
    this.#delimiter = layout.delimiter.charCodeAt(0);
    this.#line = line;
  }

  take(lines: Buffer): void | Promise<void> {
    if (this.#open.length === 0 && !lines.includes(QUOTE)) return this.#takePlain(lines);
    const all = this.#open.length === 0 ? lines : Buffer.concat([this.#open, lines]);
    const end = endOfRecords(all);
    this.#open = Buffer.from(all.subarray(end));
    if (this.#open.length > MAX_RECORD_BYTES) throw this.#unclosed();
    return this.#takeQuoted(all.subarray(0, end));
  }

  end(): void {
    if (this.#open.length > 0) throw this.#unclosed();
  }

  #takePlain(lines: Buffer): void {
    for (let start = 0; start < lines.length;) {
      const end = lines.indexOf(MEMBER_END, start);
      const last = lines[end - 1] === CR ? end - 1 : end;
      if (!this.#isBlank(lines, start, last)) this.#takeLine(lines, start, last);
      this.#line++;
      start = end + 1;
    }
  }

  #isBlank(lines: Buffer, start: number, end: number): boolean {
    for (let at = start; at < end; at++) {
      const byte = lines[at] ?? 0;
      if (byte > BLANK || byte === this.#delimiter) return false;
    }
    return true;
  }

  #takeLine(lines: Buffer, start: number, end: number): void {
    const { id, value, columns } = this.#layout;
    let [column, from] = [0, start];
    let [idFrom, idTo, valueText] = [start, start, ''];
    for (let at = start; at <= end; at++) {
      if (at < end && lines[at] !== this.#delimiter) continue;
      if (column === id) [idFrom, idTo] = [from, at];
      if (column === value) valueText = lines.toString('utf8', from, at);
      column++;
      from = at + 1;
    }
    if (column !== columns) throw this.#wrongCount(column);
    if (value !== undefined || !isPlain(lines, idFrom, idTo)) {
      this.#add(trimmedId(lines.toString('utf8', idFrom, idTo)), trimmedId(valueText));
      return;
    }
    this.#target.validateId(idTo - idFrom, this.#line);
    this.#target.spill.add(lines, idFrom, idTo);
  }

  async #takeQuoted(records: Buffer): Promise<void> {
    const first = this.#line;
    const { delimiter, columns, id, value } = this.#layout;
    const rows = await parseCsv(records, delimiter, (at, message) =>
      this.#target.problem(first + at, message),
    );
    for (const { record, line } of rows) {
      this.#line = first + line;
      if (record.length !== columns) throw this.#wrongCount(record.length);
      this.#add(record[id] ?? '', value === undefined ? '' : (record[value] ?? ''));
    }
    this.#line = first + countLines(records);
  }

  #add(id: string, text: string): void {
    const value = this.#layout.value === undefined ? true : this.#valueOf(text);
    this.#target.add(id, value, this.#line);
  }

  /** Parses a value as JSON, or as text if it is not JSON. An empty cell is null. */
  #valueOf(text: string): JsonValue {
    if (text === '') return this.#layout.areTexts ? '' : null;
    if (this.#layout.areTexts || !isJson(text)) return text;
    try {
      return readJsonString(text);
    } catch (error) {
      if (!(error instanceof HooksError)) throw error;
      throw this.#target.problem(this.#line, error.message, 'pass --text to send values as strings');
    }
  }

  #wrongCount(count: number): HooksError {
    const { columns } = this.#layout;
    const expected = `${columns} column${columns === 1 ? '' : 's'} as in the header`;
    return this.#target.problem(this.#line, `Expected ${expected}, got ${count}`);
  }

  #unclosed(): HooksError {
    return this.#target.problem(this.#line, 'a quotation mark is opened here and not closed');
  }
}

interface CsvRecord {
  /** The fields of the record, without blanks around them. */
  readonly record: readonly string[];
  /** Number of the record's first line in the parsed text, from 0. */
  readonly line: number;
}

/** Parses CSV. `problem` creates the error for a line, counted from 0. */
export async function parseCsv(
  bytes: Buffer,
  delimiter: string,
  problem: (line: number, message: string) => HooksError,
): Promise<readonly CsvRecord[]> {
  const { CsvError, parse } = await import('csv-parse/sync');
  try {
    // The option `info` adds line numbers to the rows. The types of csv-parse do not know this, so the result is cast.
    const rows = parse(withoutOuterBlanks(bytes.toString(), delimiter), {
      delimiter,
      info: true,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as readonly { readonly record: string[]; readonly info: { readonly lines: number } }[];
    return rows.map(({ record, info }) => ({
      record: record.map(trimmedId),
      line: info.lines - 1 - lineBreaksIn(record),
    }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as unknown as { readonly lines?: number }; // of errors with a place
    throw problem((lines ?? 1) - 1, error.message.replace(/\.?\s*at line \d+.*$/i, ''));
  }
}

/** Removes blanks around quotation marks and in blank lines. The trim option of csv-parse removes more characters. */
function withoutOuterBlanks(text: string, delimiter: string): string {
  const blanks = delimiter === '\t' ? String.raw`[\0-\x08\v-\x20]*` : String.raw`[\0-\t\v-\x20]*`;
  const field = `(?<=^|[${delimiter}\n])(?:${blanks}((?:"[^"]*")+))?${blanks}(?=[${delimiter}\n]|$)`;
  return text.replace(new RegExp(field, 'g'), '$1');
}

/** Counts the line breaks in a record, because csv-parse reports only the line in which the record ends. */
function lineBreaksIn(record: readonly string[]): number {
  return record.reduce((sum, field) => sum + (field.match(/\n/g)?.length ?? 0), 0);
}

/** Returns the position after the last line break that is outside a quoted field. */
function endOfRecords(lines: Buffer): number {
  let isQuoted = false;
  let end = 0;
  for (let at = 0; at < lines.length; at++) {
    const byte = lines[at];
    if (byte === QUOTE) isQuoted = !isQuoted;
    else if (byte === MEMBER_END && !isQuoted) end = at + 1;
  }
  return end;
}

function isPlain(lines: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if ((lines[at] ?? 0) <= BLANK) return false;
  return to > from;
}
