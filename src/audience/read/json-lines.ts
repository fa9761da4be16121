import { HooksError } from '../../errors.ts';
import { readJson } from '../../message/json/read-json.ts';
import type { JsonObject, JsonValue } from '../../message/types.ts';
import { MEMBER_END } from '../entry.ts';
import type { LineReader, MemberTarget } from './member-target.ts';

export interface Columns {
  /** Name of the field that has the user id. */
  readonly id: string;
  /** Name of the field that has the value of a computed trait. */
  readonly value: string;
}

/** Reads NDJSON: one object per line, with the id and the value as fields. */
export class JsonLines implements LineReader {
  readonly #target: MemberTarget;
  readonly #columns: Columns;
  #line: number;

  constructor(target: MemberTarget, columns: Columns, line: number) {
    this.#target = target;
    this.#columns = columns;
    this.#line = line;
  }

  take(lines: Buffer): void {
    let start = 0;
    for (let end = lines.indexOf(MEMBER_END); end !== -1; end = lines.indexOf(MEMBER_END, start)) {
      const line = lines.subarray(start, end);
      if (!isBlank(line)) this.#add(this.#read(line));
      this.#line++;
      start = end + 1;
    }
  }

  #read(bytes: Buffer): JsonObject {
    const { file } = this.#target;
    try {
      const value = readJson(bytes, { file, line: this.#line });
      if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject; // the remaining type
    } catch (error) {
      if (error instanceof HooksError) throw this.#target.problem(this.#line, error.message, error.hint);
      throw error;
    }
    throw this.#target.problem(this.#line, `Expected an object such as {"${this.#columns.id}":"u1"}`);
  }

  #add(object: JsonObject): void {
    const { id, value } = this.#columns;
    const isTrait = this.#target.kind === 'trait';
    if (isTrait && object[value] === undefined) {
      throw this.#target.problem(this.#line, `Expected a value in \`${value}\`, got nothing`);
    }
    this.#target.add(this.#idOf(object[id]), isTrait ? (object[value] ?? null) : true, this.#line);
  }

  #idOf(id: JsonValue | undefined): string {
    if (typeof id === 'string') return id;
    // Every number that readJson accepts has only one spelling, so it stands for one id.
    if (typeof id === 'number') return String(id);
    const got = id === undefined ? 'nothing' : JSON.stringify(id);
    throw this.#target.problem(
      this.#line,
      `Expected a user id in \`${this.#columns.id}\`, got ${got}`,
      'name the field of the id with --id-column',
    );
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte <= 0x20);
}
