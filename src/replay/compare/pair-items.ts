import { isJsonObject, type JsonValue } from '../../message/types.ts';
import type { ResponseValue } from './value-format.ts';
import { keyPath } from './visit-pairs.ts';

interface ItemPairing {
  /** Pairs of items with equal texts, and pairs of the remaining items in their order. Omits items without a partner. */
  readonly pairs: readonly (readonly [JsonValue, JsonValue])[];
  /** Whether the items with equal texts are in a different order. */
  readonly isReordered: boolean;
}

/** Pairs the items of two arrays. `textOf` returns equal texts for items that differ at most by noise. */
export function pairItems(
  ones: readonly JsonValue[],
  others: readonly JsonValue[],
  textOf: (item: JsonValue) => string,
): ItemPairing {
  const [texts, otherTexts] = [ones.map(textOf), others.map(textOf)];
  const places = new Map<string, number[]>();
  otherTexts.forEach((text, at) => {
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  });
  const matched = texts.map((text) => places.get(text)?.shift());
  const left = [...places.values()].flat().toSorted((one, other) => one - other);
  const nextLeft = left.values();
  const found = matched.filter((at) => at !== undefined);
  const pairs = ones.flatMap((item, index) => {
    const at = matched[index] ?? nextLeft.next().value;
    const other = at === undefined ? undefined : others[at];
    return other === undefined ? [] : [[item, other] as const];
  });
  return { pairs, isReordered: found.some((at, index) => index > 0 && at < (found[index - 1] ?? 0)) };
}

/** Returns the text by which an item is compared. Sorts the keys of objects, because their order does not matter. */
export function itemText(
  path: string,
  item: ResponseValue,
  textOf: (path: string, leaf: ResponseValue) => string,
): string {
  if (Array.isArray(item)) {
    return `[${item.map((each: JsonValue) => itemText(`${path}[*]`, each, textOf)).join()}]`;
  }
  if (!isJsonObject(item)) return textOf(path, item);
  const names = Object.keys(item).toSorted();
  return `{${names.map((name) => `${name}:${itemText(keyPath(path, name), item[name], textOf)}`).join()}}`;
}
