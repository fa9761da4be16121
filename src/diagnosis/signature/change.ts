import type { ReasonCode } from '../../signature/reasons.ts';

/**
 * A small difference between how the sender and the receiver compute a signature, which may explain why the
 * two do not match.
 */
export interface SignatureChange {
  readonly code: ReasonCode;
  /** The change in words that follow "it would match" (`without the trailing newline`). Never shows a secret. */
  readonly would: string;
  /** How unlikely the change is. Combinations are tried in the order of the sum of their costs. A change of cost 4 is tried alone. */
  readonly cost: Cost;
  /** How to fix the change. @default the fix of the code, from FIXES */
  readonly fix?: string | undefined;
  /**
   * Whether the change adds a text before or after the value. A chain has at most one addition of each reason code, because
   * no sender adds both a space and a newline.
   */
  readonly isAddition?: boolean | undefined;
  /** Returns words that follow `would` if no change of the body follows, which would write it in another way. */
  readonly last?: (() => string) | undefined;
  /** Returns a more exact code and description. Slow, and so called only for a change that explains the mismatch. */
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

/** A change that can be made to values of one kind. */
export interface Applicable<Value, Result = Value> extends SignatureChange {
  readonly apply: (value: Value) => Result | undefined;
}

/** Changes by cost, sorted once, because a search applies them to hundreds of values. */
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

  /** The results of the changes of one cost. */
  changes(value: Value, cost: Cost): Changed<Result>[] {
    const made: Changed<Result>[] = [];
    for (const { apply, code, would, fix, isAddition } of this.#byCost[cost]) {
      const result = apply(value);
      if (result !== undefined) made.push({ code, would, cost, fix, isAddition, value: result });
    }
    return made;
  }
}

/** Replaces a pattern in a text. Undefined if the text does not have it. */
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
   * Returns the changes of a value that have this cost, in lists. A generator makes each list only when the
   * search reaches it.
   */
  readonly change: (value: Value, cost: Cost) => Iterable<readonly Changed<Value>[]>;
  /** Returns changes that replace the whole value. They apply only to the unchanged value. */
  readonly replace: (cost: Cost) => readonly Changed<Value>[];
  /** Identifies a value, so that each value is tried once, with its cheapest changes. */
  readonly keyOf: (value: Value) => string;
  /** Maximum sum of the costs of chained changes. A replacement can cost more. */
  readonly mostCost: number;
}

export const COSTS: readonly Cost[] = [1, 2, 3, 4];

/**
 * Chains changes of the roots. Makes the variants of each sum of costs only when `at` first asks for this sum. Makes them in
 * lists, because compiling generators of single variants takes more processor time than all digests.
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

  /** The variants whose costs have this sum, in lists. Ask for smaller sums first. */
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

  /** Adds new values to `made`, and returns the list of them. */
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
