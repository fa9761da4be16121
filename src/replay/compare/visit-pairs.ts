import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { formatOf, type ResponseValue } from './value-format.ts';

type Items = readonly JsonValue[];

/** Receives the pairs of values at equal paths of two JSON values. */
export interface PairVisitor {
  /** Whether to skip the values at a path, and everything in them. */
  readonly skips: (path: string) => boolean;
  /**
   * Whether the keys of two objects are generated. `onlyOne` and `onlyOther` are the numbers of keys that only the
   * first or only the second object has. Keys that are ids (see `isId`) do not count.
   */
  readonly hasGeneratedNames: (path: string, onlyOne: number, onlyOther: number) => boolean;
  /** Called for each pair that is neither two objects nor two arrays. */
  readonly leaf: (path: string, one: ResponseValue, other: ResponseValue) => void;
  /** Called for each pair of arrays. Returns the pairs of items to visit. */
  readonly items: (path: string, one: Items, other: Items) => readonly (readonly [JsonValue, JsonValue])[];
}

/** Visits the pairs of values at equal paths. All items of an array have the same path, such as `$.items[*]`. */
export function visitPairs(
  path: string,
  [one, other]: readonly [ResponseValue, ResponseValue],
  visitor: PairVisitor,
): void {
  if (visitor.skips(path)) return;
  if (Array.isArray(one) && Array.isArray(other)) {
    // `isArray` does not narrow a readonly array.
    const pairs = visitor.items(path, one as Items, other as Items);
    for (const pair of pairs) visitPairs(`${path}[*]`, pair, visitor);
  } else if (isJsonObject(one) && isJsonObject(other)) {
    const isDictionary = visitor.hasGeneratedNames(path, namesOnlyIn(one, other), namesOnlyIn(other, one));
    for (const [name, otherName] of namePairs([one, other], isDictionary ? () => true : isId)) {
      visitPairs(
        isDictionary ? `${path}.*` : keyPath(path, name),
        [own(one, name), own(other, otherName)],
        visitor,
      );
    }
  } else visitor.leaf(path, one, other);
}

function own(value: Readonly<Record<string, JsonValue>>, name: string): ResponseValue {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function namesOnlyIn(one: JsonObject, other: JsonObject): number {
  return Object.keys(one).filter((name) => !Object.hasOwn(other, name) && !isId(name)).length;
}

/**
 * Pairs the equal keys of two objects, and pairs the generated keys that only one object has in their order. A key
 * without a partner is paired with itself.
 */
function namePairs(
  [one, other]: readonly [JsonObject, JsonObject],
  isGenerated: (name: string) => boolean,
): readonly (readonly [string, string])[] {
  const onlyOther = Object.keys(other).filter((name) => !Object.hasOwn(one, name));
  const newIds = onlyOther.filter(isGenerated).values();
  const pairs = Object.keys(one).map((name) => {
    const isPaired = Object.hasOwn(other, name) || !isGenerated(name);
    return [name, isPaired ? name : (newIds.next().value ?? name)] as const;
  });
  const rest = [...onlyOther.filter((name) => !isGenerated(name)), ...newIds];
  return [...pairs, ...rest.map((name) => [name, name] as const)];
}

function isId(name: string): boolean {
  return /^\d+$/.test(name) || formatOf(name) === 'uuid';
}

/** Returns the path of a key. All keys that are ids have the same path, because an object with such keys is like a list. */
export function keyPath(path: string, name: string): string {
  if (isId(name)) return `${path}.*`;
  return /^[\w$-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
