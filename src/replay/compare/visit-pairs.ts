import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { formatOf, type ResponseValue } from './value-format.ts';

type Items = readonly JsonValue[];

/** Receives the pairs of values that two JSON values have at equal paths. */
export interface PairVisitor {
  /** Whether to skip the values at a path, and all values in them. */
  readonly skips: (path: string) => boolean;
  /** Called for values that are not both objects or both arrays. */
  readonly leaf: (path: string, one: ResponseValue, other: ResponseValue) => void;
  /** Returns the pairs of items to visit. */
  readonly items: (path: string, one: Items, other: Items) => readonly (readonly [JsonValue, JsonValue])[];
}

/** Visits two JSON values. All items of an array have one path: `$.items[*].id`. */
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
    for (const [name, otherName] of namePairs(one, other)) {
      visitPairs(keyPath(path, name), [own(one, name), own(other, otherName)], visitor);
    }
  } else visitor.leaf(path, one, other);
}

function own(value: Readonly<Record<string, JsonValue>>, name: string): ResponseValue {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

/** Pairs the keys of two objects. Keys that are ids and that only one object has are paired in their order. */
function namePairs(one: JsonObject, other: JsonObject): readonly (readonly [string, string])[] {
  const lacking = (names: JsonObject, from: JsonObject): string[] =>
    Object.keys(from).filter((name) => !Object.hasOwn(names, name));
  const [onlyOne, onlyOther] = [lacking(other, one), lacking(one, other)];
  const newIds = onlyOther.filter(isId);
  const pairOf = (name: string): string =>
    onlyOne.includes(name) && isId(name) ? (newIds.shift() ?? name) : name;
  const pairs = Object.keys(one).map((name) => [name, pairOf(name)] as const);
  return [
    ...pairs,
    ...onlyOther.flatMap((name) => (isId(name) && !newIds.includes(name) ? [] : [[name, name] as const])),
  ];
}

function isId(name: string): boolean {
  return /^\d+$/.test(name) || formatOf(name) === 'uuid';
}

/** The path of a key. Keys that are ids have one path, because an object with ids as keys is a list. */
export function keyPath(path: string, name: string): string {
  if (isId(name)) return `${path}.*`;
  return /^[\w$-]+$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}
