/** Objects with fewer keys are often in order by chance. */
const FEWEST_KEYS = 4;

type Order = (one: string, other: string) => number;

const byText: Order = (one, other) => (one < other ? -1 : 1);
const byLength: Order = (one, other) => one.length - other.length || byText(one, other);

/** Which stores leave the keys of a message in this order; follows "the body ". Undefined for any other order. */
export function orderOfKeys(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const keys = Object.keys(value);
  if (keys.length < FEWEST_KEYS) return undefined;
  if (isIn(keys, byText)) return 'has sorted keys, as a map of Go or sort_keys leaves them';
  return isIn(keys, byLength)
    ? 'has its keys sorted by length, as jsonb of PostgreSQL stores them'
    : undefined;
}

function isIn(keys: readonly string[], order: Order): boolean {
  return keys.every((key, index) => index === 0 || order(keys[index - 1] ?? '', key) < 0);
}
