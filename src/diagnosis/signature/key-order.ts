/** Minimum keys of the outermost object to judge their order: fewer keys are often in order by chance. */
const FEWEST_KEYS = 4;

/**
 * Minimum number of keys, and of objects with several keys, to conclude that keys are sorted by length. With fewer it may be
 * chance, because people often write short keys before long ones.
 */
const FEWEST_BY_LENGTH = { keys: 6, levels: 2 };

type Order = (one: string, other: string) => number;

const byText: Order = (one, other) => (one < other ? -1 : 1);
const byLength: Order = (one, other) => one.length - other.length || byText(one, other);

/**
 * Describes a telling order of the keys in a value, with the programs that leave keys in that order (`has sorted keys, as a
 * map of Go …`); follows "the body". Undefined if the order of the keys reveals no program.
 */
export function orderOfKeys(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const objects = keysOfObjects(value);
  if ((objects[0]?.length ?? 0) < FEWEST_KEYS) return undefined;
  if (objects.every((keys) => isIn(keys, byText))) {
    return 'has sorted keys, as a map of Go or sort_keys leaves them';
  }
  const isEnough =
    objects.flat().length >= FEWEST_BY_LENGTH.keys &&
    objects.filter((keys) => keys.length > 1).length >= FEWEST_BY_LENGTH.levels;
  return isEnough && objects.every((keys) => isIn(keys, byLength))
    ? 'has its keys sorted by length, as jsonb of PostgreSQL stores them'
    : undefined;
}

/**
 * The keys of each object in a value, the outermost first. Stops at 1,000 objects: all objects of a megabyte
 * take 100 ms.
 */
function keysOfObjects(value: object): string[][] {
  const found: string[][] = [];
  const left: object[] = [value];
  for (let next = left.pop(); next !== undefined && found.length < 1_000; next = left.pop()) {
    if (!Array.isArray(next)) found.push(Object.keys(next));
    // The type is unknown, because `value` is parsed JSON.
    for (const inside of Object.values(next) as unknown[]) {
      if (typeof inside === 'object' && inside !== null) left.push(inside);
    }
  }
  return found;
}

function isIn(keys: readonly string[], order: Order): boolean {
  return keys.every((key, index) => index === 0 || order(keys[index - 1] ?? '', key) < 0);
}
