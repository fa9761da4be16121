import type { JsonObject } from '../../message/types.ts';

/** Makes a number within the limits of a schema: a small integer if possible. `item` makes the numbers of a list differ. */
export function sampleNumber(schema: JsonObject, isInteger: boolean, item: number): number {
  const lowest = limit(Math.max, schema['minimum'], schema['exclusiveMinimum']) ?? -Infinity;
  const highest = limit(Math.min, schema['maximum'], schema['exclusiveMaximum']) ?? Infinity;
  const { multipleOf } = schema;
  const step = typeof multipleOf === 'number' ? multipleOf : 1;
  const isAllowed = (value: number): boolean => {
    if (value < lowest || value > highest) return false;
    return value !== schema['exclusiveMinimum'] && value !== schema['exclusiveMaximum'];
  };
  const start = Math.min(Math.max(step, Math.ceil(lowest / step) * step), Math.floor(highest / step) * step);
  const near = [0, 1, -1, 2].map((count) => start + (count + item) * step);
  const found = [...near, start].find((value) => isAllowed(value) && (!isInteger || Number.isInteger(value)));
  // No multiple of 1 lies between the limits, as between 0.2 and 0.4.
  return found ?? (lowest + highest) / 2;
}

function limit(stricter: (...values: number[]) => number, ...values: readonly unknown[]): number | undefined {
  const numbers = values.filter((value) => typeof value === 'number');
  return numbers.length === 0 ? undefined : stricter(...numbers);
}
