import type { ReasonCode } from '../../signature/reasons.ts';

/**
 * A small difference between how the sender and the receiver compute a signature. It may explain why the signature does
 * not match.
 */
export interface SignatureChange {
  readonly code: ReasonCode;
  /** The change in words that follow "it would match" (`without the trailing newline`). Never shows a secret. */
  readonly would: string;
  /** How unlikely the change is. Combinations are tried in order of total cost. A change of cost 4 is tried alone. */
  readonly cost: Cost;
  /** How to fix the mistake. @default the fix of the code, from `fixOf` */
  readonly fix?: string | undefined;
  /**
   * Whether the change adds an affix, such as a newline, to the value. A chain adds at most one affix of each reason
   * code, because no sender adds both a space and a newline.
   */
  readonly isAddition?: boolean | undefined;
  /** Returns words to append to `would` if this is the last change of the body. Later changes can make them untrue. */
  readonly last?: (() => string) | undefined;
  /** Returns a more exact code and description. It is slow, and called only for a change that explains the mismatch. */
  readonly refined?: () => Pick<SignatureChange, 'code' | 'would'>;
}

export type Cost = 1 | 2 | 3 | 4;

/** A change, and the value that results from it. */
export interface Changed<Value> extends SignatureChange {
  readonly value: Value;
}

/** A change as a row of a table. `apply` returns undefined if the change is impossible for the value. */
export type ChangeRow<Value, Result = Value> = readonly [
  cost: Cost,
  would: string,
  apply: (value: Value) => Result | undefined,
  fix?: string,
];

/** Rows with the same reason code, and a fix for the rows that have none of their own. */
export interface RowGroup<Value, Result = Value> {
  readonly code: ReasonCode;
  readonly rows: readonly ChangeRow<Value, Result>[];
  readonly fix?: string;
}

/** A change with the function that makes it. `apply` returns undefined if the change is impossible for the value. */
export interface Applicable<Value, Result = Value> extends SignatureChange {
  readonly apply: (value: Value) => Result | undefined;
}

/** A table of changes. Groups them by cost once, because a search applies them to hundreds of values. */
export class ChangeTable<Value, Result = Value> {
  readonly #byCost: Readonly<Record<Cost, Applicable<Value, Result>[]>> = { 1: [], 2: [], 3: [], 4: [] };

  constructor(groups: readonly RowGroup<Value, Result>[], others: readonly Applicable<Value, Result>[] = []) {
    for (const { code, rows, fix: groupFix } of groups) {
      for (const [cost, would, apply, fix = groupFix] of rows) {
        this.#byCost[cost].push({ code, would, cost, fix, apply });
      }
    }
    for (const each of others) this.#byCost[each.cost].push(each);
  }

  /** Applies the changes of one cost to a value, except those that are impossible for it. */
  changes(value: Value, cost: Cost): Changed<Result>[] {
    const made: Changed<Result>[] = [];
    for (const { apply, code, would, fix, isAddition } of this.#byCost[cost]) {
      const result = apply(value);
      if (result !== undefined) made.push({ code, would, cost, fix, isAddition, value: result });
    }
    return made;
  }
}

/** Replaces what matches a pattern in a text, like `String.replace`. Undefined if nothing matches. */
export function replaced(
  text: string,
  pattern: RegExp,
  by: string | ((match: string) => string),
): string | undefined {
  // Passes a function, because `$` has a special meaning in a replacement string.
  return text.search(pattern) < 0 ? undefined : text.replace(pattern, typeof by === 'string' ? () => by : by);
}

/** A value, and the changes that led to it: none for an unchanged value. */
export interface Variant<Value> {
  readonly value: Value;
  readonly changes: readonly SignatureChange[];
}

export interface VariantsOptions<Value> {
  readonly roots: readonly Value[];
  /**
   * Returns the changes of this cost to a value, in lists. A generator makes each list only when the search
   * reaches it.
   */
  readonly change: (value: Value, cost: Cost) => Iterable<readonly Changed<Value>[]>;
  /** Returns the changes of this cost that replace the whole value. They can only be the first of a chain. */
  readonly replace: (cost: Cost) => readonly Changed<Value>[];
  /** Identifies a value, so that each value is tried once, with its cheapest changes. */
  readonly keyOf: (value: Value) => string;
  /** Maximum sum of the costs of chained changes. A replacement can cost more. */
  readonly mostCost: number;
}

export const COSTS: readonly Cost[] = [1, 2, 3, 4];

/**
 * Makes variants of the roots by chains of changes. Makes those with a given sum of costs only when `at` first asks for
 * it. Yields lists, because V8 takes more processor time to compile generators of single variants than for all digests.
 */
export class Variants<Value> {
  readonly #options: VariantsOptions<Value>;
  readonly #seen: Set<string>;
  readonly #byCost: Variant<Value>[][];

  constructor(options: VariantsOptions<Value>) {
    this.#options = options;
    this.#seen = new Set(options.roots.map((root) => options.keyOf(root)));
    this.#byCost = [options.roots.map((value) => ({ value, changes: [] }))];
  }

  /** Returns the variants whose costs add up to `sum`, in lists. Read the lists of all smaller sums first. */
  at(sum: number): Iterable<readonly Variant<Value>[]> {
    const known = this.#byCost[sum];
    return known === undefined ? this.#made(sum) : [known];
  }

  *#made(sum: number): Generator<readonly Variant<Value>[]> {
    const { change, replace, mostCost } = this.#options;
    const made: Variant<Value>[] = [];
    for (const cost of COSTS) {
      const before = sum - cost;
      for (const { value, changes } of sum > mostCost ? [] : (this.#byCost[before] ?? [])) {
        for (const list of change(value, cost)) yield this.#kept(list, changes, made);
      }
      if (before === 0) yield this.#kept(replace(cost), [], made);
    }
    this.#byCost[sum] = made;
  }

  /** Adds the found variants to `made`, without known values and repeated affixes. Returns those that it added. */
  #kept(
    found: readonly Changed<Value>[],
    before: readonly SignatureChange[],
    made: Variant<Value>[],
  ): readonly Variant<Value>[] {
    const start = made.length;
    const added = before.filter(({ isAddition }) => isAddition).map(({ code }) => code);
    for (const change of found) {
      if (change.isAddition === true && added.includes(change.code)) continue;
      const key = this.#options.keyOf(change.value);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      made.push({ value: change.value, changes: [...before, change] });
    }
    return made.slice(start);
  }
}
