import { KEYS, fieldOf, type Key } from './table/fields.ts';
import { isObject } from '../validate-options.ts';
import { splitUrls } from '../url.ts';
import type { ConfigOrigin } from './config-origin.ts';

/**
 * One source of settings. Layers are searched in order (flags, environment, project's file, user's file) and
 * the first that has a setting gives it.
 */
export interface Layer {
  /** As in a config file: `{ delivery: { timeout: '5s' } }`. */
  readonly values: unknown;
  /** The file as shown to a person; absent for flags and the environment. */
  readonly file?: string;
  /** The folder at which relative paths start. */
  readonly folder: string;
  /** The names of flags and variables by setting. Empty for a file, which uses the keys. */
  readonly names: Readonly<Partial<Record<Key, string>>>;
}

/** A setting as given, before parsing. */
export interface GivenSetting {
  readonly value: unknown;
  readonly origin: ConfigOrigin;
  readonly layer: Layer;
}

/**
 * Finds the setting in the first layer that has it. `prefix` is where in a file the long form keeps it; flags and
 * variables know no long form.
 */
export function findSetting(
  layers: readonly Layer[],
  key: Key,
  prefix: readonly string[] = [],
): GivenSetting | undefined {
  for (const layer of layers) {
    const above = layer.file === undefined ? [] : prefix;
    const value = valueAt(layer.values, [...above, ...key.split('.')]);
    if (value !== undefined) return { value, layer, origin: settingOrigin(layer, key, above) };
  }
  return undefined;
}

function settingOrigin({ file, names }: Layer, key: Key, prefix: readonly string[]): ConfigOrigin {
  const name = names[key] ?? [...prefix, key].join('.');
  return file === undefined ? { name } : { name, file };
}

/** The own keys of the object at a path, over all layers, in the order of their first mention. */
export function keysAt(layers: readonly Layer[], path: readonly string[]): string[] {
  const found = layers.flatMap(({ values }) => {
    const value = valueAt(values, path);
    return isObject(value) ? Object.keys(value) : [];
  });
  return [...new Set(found)];
}

export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const part of path) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Settings by key as one layer: flags, or variables. Those that are undefined are left out. */
export function layerOf(
  given: Readonly<Partial<Record<Key, { readonly name: string; readonly value: unknown } | undefined>>>,
  folder: string,
): Layer {
  const values: Record<string, unknown> = {};
  const names: Partial<Record<Key, string>> = {};
  for (const key of KEYS) {
    const entry = given[key];
    if (entry === undefined || entry.value === undefined) continue;
    setAt(values, key.split('.'), entry.value);
    names[key] = entry.name;
  }
  return { values, folder, names };
}

function setAt(
  target: Record<string, unknown>,
  [first = '', ...rest]: readonly string[],
  value: unknown,
): void {
  if (rest.length === 0) {
    target[first] = value;
    return;
  }
  const inner = isObject(target[first]) ? { ...target[first] } : {};
  setAt(inner, rest, value);
  target[first] = inner;
}

/**
 * The variables as a layer. An empty variable counts as unset (continuous integration sets those it has no value
 * for), but not an empty secret: that would send unsigned what was meant to be signed, so using it is an error.
 */
export function environmentLayer(env: Readonly<NodeJS.ProcessEnv>, cwd: string): Layer {
  const entries = KEYS.flatMap((key) => {
    const name = fieldOf(key).env?.find((each) => env[each] || (key === 'sharedSecret' && env[each] === ''));
    return name === undefined ? [] : [[key, { name, value: fromText(key, env[name] ?? '') }] as const];
  });
  return layerOf(Object.fromEntries(entries), cwd);
}

function fromText(key: Key, text: string): unknown {
  if (key !== 'webhooks') return text;
  const urls = splitUrls(text).flatMap((part) => part.split(/\s+/).filter((url) => url !== ''));
  return urls.length === 0 ? undefined : urls;
}
