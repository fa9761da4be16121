import type { ReasonCode } from '../../signature/reasons.ts';

/** A possible difference between how sender and receiver compute a signature, which would explain a mismatch. */
export interface SignatureChange {
  readonly code: ReasonCode;
  /** Describes the change in words that follow "it would match": `without the trailing newline`. Contains no secret. */
  readonly would: string;
  /** How unlikely the change is. Combinations are tried in order of total cost. A change of cost 4 is tried alone. */
  readonly cost: Cost;
  /** How to fix the mistake. @default the fix of the code, from `fixOf` */
  readonly fix?: string | undefined;
  /** Returns a more exact code and description. Slow, so it is called only for a change that explains the mismatch. */
  readonly refined?: () => Pick<SignatureChange, 'code' | 'would'>;
}

/** How unlikely a change is: from 1, a common mistake, to 4, a rare one that is never combined with others. */
export type Cost = 1 | 2 | 3 | 4;

/** A change, and the value that results from it. */
export interface Changed<Value> extends SignatureChange {
  readonly value: Value;
}

/** A change as a row of a table. `apply` returns undefined if the change does not apply to the value. */
export type ChangeRow<Value, Result = Value> = readonly [
  cost: Cost,
  would: string,
  apply: (value: Value) => Result | undefined,
  fix?: string,
];

/** A change with the function that makes it. `apply` returns undefined if the change does not apply to the value. */
export interface Applicable<Value, Result = Value> extends SignatureChange {
  readonly apply: (value: Value) => Result | undefined;
}

/** Makes changes with the same reason code from rows. Rows without a fix get `commonFix`. */
export function coded<Value, Result = Value>(
  code: ReasonCode,
  rows: readonly ChangeRow<Value, Result>[],
  commonFix?: string,
): readonly Applicable<Value, Result>[] {
  return rows.map(([cost, would, apply, fix = commonFix]) => ({ code, would, cost, fix, apply }));
}

/** A table of changes, grouped by cost once, because a search applies those of one cost to hundreds of values. */
export class ChangeTable<Value, Result = Value> {
  readonly #byCost: Readonly<Record<Cost, Applicable<Value, Result>[]>> = { 1: [], 2: [], 3: [], 4: [] };

  constructor(changes: readonly Applicable<Value, Result>[]) {
    for (const change of changes) this.#byCost[change.cost].push(change);
  }

  /** Applies the changes of one cost to a value. Leaves out the changes that do not apply to it. */
  changes(value: Value, cost: Cost): Changed<Result>[] {
    const made: Changed<Result>[] = [];
    for (const { apply, code, would, fix } of this.#byCost[cost]) {
      const result = apply(value);
      if (result !== undefined) made.push({ code, would, cost, fix, value: result });
    }
    return made;
  }
}

/** Replaces matches in a text, like `String.replace`, but returns undefined if nothing matches. */
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
  /** Applies the changes of this cost to a value. May be a generator, to make each list only when it is needed. */
  readonly change: (value: Value, cost: Cost) => Iterable<readonly Changed<Value>[]>;
  /** Returns values of this cost to try instead of the roots. Further changes can follow such a replacement. */
  readonly replace: (cost: Cost) => readonly Changed<Value>[];
  /** Identifies a value, so that each value is tried once, with its cheapest changes. */
  readonly keyOf: (value: Value) => string;
  /** Maximum total cost of the changes that lead to a value. A value from `replace` can cost more. */
  readonly mostCost: number;
}

export const COSTS: readonly Cost[] = [1, 2, 3, 4];

/**
 * Makes variants of the given values (`roots`) by one change after another. Makes those of each total cost only when
 * `at` asks for them. Yields lists, because V8 takes longer to compile generators of single variants than to compute
 * the digests of all variants.
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

  /** Returns the variants of this total cost. They are made from cheaper ones: read the lists of smaller sums first. */
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

  /** Adds a variant for each change in `found` to `made`, unless its value was seen before. Returns the added variants. */
  #kept(
    found: readonly Changed<Value>[],
    before: readonly SignatureChange[],
    made: Variant<Value>[],
  ): readonly Variant<Value>[] {
    const start = made.length;
    for (const change of found) {
      const key = this.#options.keyOf(change.value);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      made.push({ value: change.value, changes: [...before, change] });
    }
    return made.slice(start);
  }
}
