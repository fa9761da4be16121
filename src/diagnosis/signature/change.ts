import type { ReasonCode } from '../../signature/reasons.ts';

/** A small difference between the two sides that may explain a mismatch. */
export interface SignatureChange {
  readonly code: ReasonCode;
  /** The change in words that follow "it would match" (`without the trailing newline`). Never shows a secret. */
  readonly would: string;
  /** How unlikely the change is. Combinations are tried in the order of the sum of their costs. */
  readonly cost: Cost;
  /** How to fix the change. @default the fix of the code, from FIXES */
  readonly fix?: string | undefined;
  /** Returns a more exact code and description. Slow, and so called only for a change that explains the mismatch. */
  readonly refined?: () => Pick<SignatureChange, 'code' | 'would'>;
}

export type Cost = 1 | 2 | 3;

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

/** Applies the rows of one cost to a value. */
export function* applyRows<Value, Result>(
  { code, rows, fix: groupFix }: RowGroup<Value, Result>,
  value: Value,
  cost: number,
): Generator<Changed<Result>> {
  for (const [own, would, apply, fix = groupFix] of rows) {
    const result = own === cost ? apply(value) : undefined;
    if (result !== undefined) yield { code, would, cost: own, fix, value: result };
  }
}

/** A value, and the changes that led to it: none for an unchanged value. */
export interface Variant<Value> {
  readonly value: Value;
  readonly changes: readonly SignatureChange[];
}

export interface VariantsOptions<Value> {
  readonly roots: readonly Value[];
  /** Yields the changes of a value that have this cost. */
  readonly change: (value: Value, cost: Cost) => Iterable<Changed<Value>>;
  /** Yields changes that replace the whole value. They apply only to the unchanged value. */
  readonly replace?: (cost: Cost) => Iterable<Changed<Value>>;
  /** Identifies a value, so that each value is tried once, with its cheapest changes. */
  readonly keyOf: (value: Value) => string;
  /** Maximum sum of the costs of chained changes. */
  readonly mostCost: number;
}

export const COSTS: readonly Cost[] = [1, 2, 3];

/** Chains changes of the roots. Makes the variants of each sum of costs only when `at` first asks for this sum. */
export class Variants<Value> {
  readonly #options: VariantsOptions<Value>;
  readonly #seen: Set<string>;
  readonly #byCost: Variant<Value>[][];

  constructor(options: VariantsOptions<Value>) {
    this.#options = options;
    this.#seen = new Set(options.roots.map((root) => options.keyOf(root)));
    this.#byCost = [options.roots.map((value) => ({ value, changes: [] }))];
  }

  /** The variants whose costs have this sum. Ask for smaller sums first. */
  at(sum: number): Iterable<Variant<Value>> {
    return sum > this.#options.mostCost ? [] : (this.#byCost[sum] ?? this.#made(sum));
  }

  *#made(sum: number): Generator<Variant<Value>> {
    const { change, replace = () => [] } = this.#options;
    const made: Variant<Value>[] = [];
    for (const cost of COSTS) {
      const before = sum - cost;
      for (const { value, changes } of this.#byCost[before] ?? []) {
        yield* this.#keep(change(value, cost), changes, made);
      }
      if (before === 0) yield* this.#keep(replace(cost), [], made);
    }
    this.#byCost[sum] = made;
  }

  *#keep(
    found: Iterable<Changed<Value>>,
    before: readonly SignatureChange[],
    made: Variant<Value>[],
  ): Generator<Variant<Value>> {
    for (const { value, ...change } of found) {
      const key = this.#options.keyOf(value);
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      const variant = { value, changes: [...before, change] };
      made.push(variant);
      yield variant;
    }
  }
}
