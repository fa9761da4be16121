import { fieldOf, KEYS, type Key } from './fields.ts';
import type { SettingField } from './setting-field.ts';

/**
 * Allowed content of a position in a config file: a setting, an object with known keys, an object whose keys are names, or
 * any text.
 */
export type FileShape =
  | { readonly kind: 'setting'; readonly key: Key }
  | { readonly kind: 'keys'; readonly keys: ShapesByName }
  | { readonly kind: 'names'; readonly each: FileShape }
  | { readonly kind: 'text' };

type ShapesByName = Readonly<Record<string, FileShape>>;

/** The shape of a config file, in the short or the long form. */
export function fileShape(): FileShape {
  const destination = shapesOf(({ belongsTo }) => belongsTo === 'destination');
  const source = shapesOf(({ belongsTo }) => belongsTo === 'source');
  const destinations: FileShape = { kind: 'names', each: { kind: 'keys', keys: destination } };
  const sources: FileShape = { kind: 'names', each: { kind: 'keys', keys: { ...source, destinations } } };
  return { kind: 'keys', keys: { ...shortFormShapes(), $schema: { kind: 'text' }, sources } };
}

/** The shapes of the settings and groups at the top of a file in the short form. */
export function shortFormShapes(): ShapesByName {
  return shapesOf(({ longFormOnly }) => longFormOnly !== true);
}

/** The shape under a key of an object; undefined if the key is unknown. */
export function shapeBelow(shape: FileShape, key: string): FileShape | undefined {
  if (shape.kind === 'names') return shape.each;
  return shape.kind === 'keys' && Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
}

function shapesOf(takes: (field: SettingField<unknown>) => boolean): ShapesByName {
  const keys = KEYS.filter((key) => takes(fieldOf(key)));
  return shapesIn('', keys);
}

/** The shapes of the keys directly in a group. `group` is its path with a final dot, or empty for the top of the file. */
function shapesIn(group: string, keys: readonly Key[]): ShapesByName {
  const inside = keys.filter((key) => key.startsWith(group));
  const names = new Set(inside.map((key) => key.slice(group.length).replace(/\..*/, '')));
  const shapes = Array.from(names, (name): [string, FileShape] => {
    const path = group + name;
    const key = inside.find((each) => each === path);
    if (key !== undefined) return [name, { kind: 'setting', key }];
    return [name, { kind: 'keys', keys: shapesIn(`${path}.`, inside) }];
  });
  return Object.fromEntries(shapes);
}
