import { isDeepStrictEqual } from 'node:util';
import { EntryTable } from './entry-table.ts';
import { endOfId, parseMember, readId } from './entry.ts';
import type { JsonValue } from '../message/types.ts';

/** How the members that are given differ from those last told. */
export interface Counts {
  /** Different ids that are given. */
  readonly members: number;
  /** Given more than once; the last counts. */
  readonly duplicates: number;
  readonly added: number;
  readonly removed: number;
  /** How many users have another value of a computed trait. */
  readonly changed: number;
  readonly unchanged: number;
  /** Users whose last value is unknown, so it is sent again. */
  readonly repeated: number;
}

/** A change to send for one user. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed' | 'repeated';
  readonly userId: string;
  readonly value: JsonValue;
  /** The id as it is written. */
  readonly id: string;
  /** The entry as the store has it now, and as it will once this was told. Undefined: none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** A partition as the store has it. */
export interface Partition {
  readonly members: number;
  readonly entries: Uint8Array;
  /** Ids as they are written, whose users may have been told something else. */
  readonly doubtful: readonly string[];
}

export interface ComparedPartition {
  readonly chunks: readonly Uint8Array[];
  /** Lines in them. */
  readonly count: number;
  /** The value that a user gets who is no longer given. */
  readonly absent: JsonValue;
}

/** How an object or an array begins: `{`, `[`. */
const JSON_OBJECT: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b]);

type MutableCounts = { -readonly [Key in keyof Counts]: Counts[Key] };

/** Finds how partitions differ; one after the other, since its table is used again. */
export class PartitionComparison {
  readonly #table = new EntryTable();

  /** Calls `onChange` once for each user to be told, and `onKept` for each stretch of entries that stays as it is. */
  compare(
    { members, entries, doubtful }: Partition,
    { chunks, count, absent }: ComparedPartition,
    onChange: (change: Change) => void = ignore,
    onKept: (line: Uint8Array) => void = ignore,
  ): Counts {
    const table = this.#table;
    table.load(entries, chunks, members + count);
    const counts = emptyCounts();
    counts.members = table.distinct;
    counts.duplicates = count - table.distinct;
    const doubts = new Set(doubtful);
    table.forEach((told, given) => {
      const kind = this.#kindOf(told, given, doubts);
      counts[kind]++;
      if (kind === 'unchanged') {
        if (onKept !== ignore) onKept(table.bytes.subarray(told, table.endOf(told)));
        return;
      }
      if (onChange === ignore && doubts.size === 0) return;
      const change = this.#change(kind, { told, given, absent });
      doubts.delete(change.id);
      onChange(change);
    });
    // These users left after a change was sent for them that was never confirmed.
    for (const id of doubts) {
      counts.repeated++;
      onChange({
        kind: 'repeated',
        userId: readId(id),
        value: absent,
        id,
        before: undefined,
        after: undefined,
      });
    }
    return counts;
  }

  #kindOf(told: number, given: number, doubts: ReadonlySet<string>): Change['kind'] | 'unchanged' {
    const table = this.#table;
    if (told === -1) return 'added';
    if (given === -1) return 'removed';
    if (!table.isSameLine(told, given) && !this.#isSameValue(told, given)) return 'changed';
    return doubts.size > 0 && doubts.has(this.#idAt(told)) ? 'repeated' : 'unchanged';
  }

  /** Objects may have their members in another order. What is none is the same only as the same line. */
  #isSameValue(told: number, given: number): boolean {
    const { bytes } = this.#table;
    const isObject = (at: number): boolean => JSON_OBJECT.has(bytes[endOfId(bytes, at) + 1]);
    return isObject(told) && isObject(given) && isDeepStrictEqual(this.#valueAt(told), this.#valueAt(given));
  }

  #valueAt(at: number): JsonValue {
    return parseMember(this.#table.lineAt(at)).value;
  }

  #change(
    kind: Change['kind'],
    { told, given, absent }: { readonly told: number; readonly given: number; readonly absent: JsonValue },
  ): Change {
    const before = told === -1 ? undefined : this.#table.lineAt(told);
    const after = given === -1 ? undefined : this.#table.lineAt(given);
    const { userId, value } = parseMember(after ?? before ?? '');
    const id = this.#idAt(given === -1 ? told : given);
    return { kind, userId, value: after === undefined ? absent : value, id, before, after };
  }

  #idAt(at: number): string {
    const { bytes } = this.#table;
    return bytes.toString('utf8', at, endOfId(bytes, at));
  }
}

function ignore(): void {}

export function emptyCounts(): MutableCounts {
  return { members: 0, duplicates: 0, added: 0, removed: 0, changed: 0, unchanged: 0, repeated: 0 };
}

export function addCounts(sum: MutableCounts, part: Counts): void {
  sum.members += part.members;
  sum.duplicates += part.duplicates;
  sum.added += part.added;
  sum.removed += part.removed;
  sum.changed += part.changed;
  sum.unchanged += part.unchanged;
  sum.repeated += part.repeated;
}

/** The number of users for whom a message would be sent. */
export function changesIn({ added, removed, changed, repeated }: Counts): number {
  return added + removed + changed + repeated;
}
