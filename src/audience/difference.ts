import { isDeepStrictEqual } from 'node:util';
import { EntryTable } from './entry-table.ts';
import { endOfId, parseMember, readId } from './entry.ts';
import type { JsonValue } from '../message/types.ts';
import type { Partition } from './store.ts';

/** How the members of the input differ from the ones that were sent last. */
export interface Counts {
  /** Different ids in the input. */
  readonly members: number;
  /** Ids that come again in the input; the last entry counts. */
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
  /** The entry in the store now, and the one after this change was sent. Undefined: none. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface ComparedPartition {
  readonly chunks: readonly Uint8Array[];
  /** Lines in them. */
  readonly count: number;
  /** The value for a user who is missing from the input. */
  readonly absent: JsonValue;
}

/** How an object or an array begins: `{`, `[`. */
const JSON_OBJECT: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b]);

type MutableCounts = { -readonly [Key in keyof Counts]: Counts[Key] };

/** Finds how partitions differ; one after the other, since its table is used again. */
export class PartitionComparison {
  readonly #table = new EntryTable();

  /** Calls `onChange` once for each user whose value must be sent, and `onKept` for each stretch of entries that stays as it is. */
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

  #kindOf(sent: number, given: number, doubts: ReadonlySet<string>): Change['kind'] | 'unchanged' {
    const table = this.#table;
    if (sent === -1) return 'added';
    if (given === -1) return 'removed';
    if (!table.isSameLine(sent, given) && !this.#isSameValue(sent, given)) return 'changed';
    return doubts.size > 0 && doubts.has(this.#idAt(sent)) ? 'repeated' : 'unchanged';
  }

  /** Objects may have their members in another order. Other values are the same only when their lines are. */
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
