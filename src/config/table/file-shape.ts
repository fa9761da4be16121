import { fieldOf, KEYS, type Key } from './fields.ts';
import type { SettingField } from './setting-field.ts';

/** Allowed content of a position in a config file: a setting, an object with known keys, an object whose keys are names, or any text. */
export type FileShape =
  | { readonly kind: 'setting'; readonly key: Key }
  | { readonly kind: 'keys'; readonly keys: Readonly<Record<string, FileShape>> }
  | { readonly kind: 'names'; readonly each: FileShape }
  | { readonly kind: 'text' };

/** The shape of a config file, in the short or the long form. */
export function fileShape(): FileShape {
  const destination = keysShape(({ belongsTo }) => belongsTo === 'destination');
  const source = keysShape(({ belongsTo }) => belongsTo === 'source', {
    destinations: { kind: 'names', each: destination },
  });
  return keysShape(({ longFormOnly }) => longFormOnly !== true, {
    $schema: { kind: 'text' },
    sources: { kind: 'names', each: source },
  });
}

/** The shape under a key of an object; undefined if the key is unknown. */
export function shapeBelow(shape: FileShape, key: string): FileShape | undefined {
  if (shape.kind === 'names') return shape.each;
  return shape.kind === 'keys' && Object.hasOwn(shape.keys, key) ? shape.keys[key] : undefined;
}

function keysShape(
  takes: (field: SettingField<unknown>) => boolean,
  others: Readonly<Record<string, FileShape>> = {},
): FileShape {
  const keys = KEYS.filter((key) => takes(fieldOf(key))).map((key) => ({ key, path: key.split('.') }));
  return { kind: 'keys', keys: { ...nested(keys), ...others } };
}

/** Nests keys with dots: `delivery.health.failures` becomes an object in an object. */
function nested(
  entries: readonly { readonly key: Key; readonly path: readonly string[] }[],
): Record<string, FileShape> {
  const firsts = new Set(entries.flatMap(({ path }) => path.slice(0, 1)));
  return Object.fromEntries(
    Array.from(firsts, (first): [string, FileShape] => {
      const inside = entries.filter(({ path }) => path[0] === first);
      const own = inside.find(({ path }) => path.length === 1);
      if (own !== undefined) return [first, { kind: 'setting', key: own.key }];
      const deeper = inside.map(({ key, path }) => ({ key, path: path.slice(1) }));
      return [first, { kind: 'keys', keys: nested(deeper) }];
    }),
  );
}
