import { isDeepStrictEqual } from 'node:util';
import { EntryTable } from './entry-table.ts';
import { endOfId, parseMember, readId } from './entry.ts';
import type { JsonValue } from '../message/types.ts';
import type { Partition } from './store.ts';

/** Numbers of members and of changes since the last sync. */
export interface Counts {
  /** Number of different ids in the input. */
  readonly members: number;
  /** Number of repeated ids in the input. The last entry of an id counts. */
  readonly duplicates: number;
  readonly added: number;
  readonly removed: number;
  /** Number of users with a new value of a computed trait. */
  readonly changed: number;
  readonly unchanged: number;
  /** Number of users whose value is sent again, because the last outcome is unknown. */
  readonly repeated: number;
}

/** A change to send for a user: of membership in an audience, or of the value of a computed trait. */
export interface Change {
  readonly kind: 'added' | 'removed' | 'changed' | 'repeated';
  readonly userId: string;
  readonly value: JsonValue;
  /** The id as entries have it: a JSON string if it starts with a quotation mark or has control characters. */
  readonly id: string;
  /**
   * The stored entry of the user; undefined if none is stored. `after`: the entry to store once the change is confirmed;
   * undefined to store none.
   */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The part of an input that belongs to a partition. */
export interface ComparedPartition {
  readonly chunks: readonly Uint8Array[];
  /** Number of lines in the chunks. */
  readonly count: number;
  /** Value to send for a user who is missing from the input. */
  readonly absent: JsonValue;
}

/** First bytes of JSON objects and arrays: `{`, `[`. */
const JSON_OBJECT: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b]);

type MutableCounts = { -readonly [Key in keyof Counts]: Counts[Key] };

/**
 * Compares the stored entries of a partition with the input's entries. Reuses one table, so compares one partition after
 * another.
 */
export class PartitionComparison {
  readonly #table = new EntryTable();

  /** Calls `onChange` once for each user whose value must be sent, and `onKept` with each unchanged line. */
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
    table.forEach((sent, given) => {
      const kind = this.#kindOf(sent, given, doubts);
      counts[kind]++;
      if (kind === 'unchanged') {
        if (onKept !== ignore) onKept(table.bytes.subarray(sent, table.endOf(sent)));
        return;
      }
      if (onChange === ignore && doubts.size === 0) return;
      const change = this.#change(kind, { sent, given, absent });
      doubts.delete(change.id);
      onChange(change);
    });
    // Sends the value of an absent user for the remaining doubtful users, who are neither stored nor in the input: their
    // last change was never confirmed.
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

  #kindOf(sent: number, given: number, doubts: ReadonlySet<string>): Change['kind'] | 'unchanged' {
    const table = this.#table;
    if (sent === -1) return 'added';
    if (given === -1) return 'removed';
    if (!table.isSameLine(sent, given) && !this.#isSameValue(sent, given)) return 'changed';
    return doubts.size > 0 && doubts.has(this.#idAt(sent)) ? 'repeated' : 'unchanged';
  }

  /** Whether two entries with different lines have equal values: objects and arrays may differ in the order of keys. */
  #isSameValue(sent: number, given: number): boolean {
    const { bytes } = this.#table;
    const isObject = (at: number): boolean => JSON_OBJECT.has(bytes[endOfId(bytes, at) + 1]);
    return isObject(sent) && isObject(given) && isDeepStrictEqual(this.#valueAt(sent), this.#valueAt(given));
  }

  #valueAt(at: number): JsonValue {
    return parseMember(this.#table.lineAt(at)).value;
  }

  #change(
    kind: Change['kind'],
    { sent, given, absent }: { readonly sent: number; readonly given: number; readonly absent: JsonValue },
  ): Change {
    const before = sent === -1 ? undefined : this.#table.lineAt(sent);
    const after = given === -1 ? undefined : this.#table.lineAt(given);
    const { userId, value } = parseMember(after ?? before ?? '');
    const id = this.#idAt(given === -1 ? sent : given);
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
  for (const key of Object.keys(part) as (keyof Counts)[]) sum[key] += part[key]; // an object of emptyCounts()
}

/** Number of messages to send. */
export function changesIn({ added, removed, changed, repeated }: Counts): number {
  return added + removed + changed + repeated;
}
