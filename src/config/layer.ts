import { KEYS, fieldOf, type Key } from './table/fields.ts';
import { printable } from '../redact.ts';
import { closest } from '../suggest.ts';
import { isObject } from '../validate-options.ts';
import { splitUrls } from '../url.ts';
import type { ConfigOrigin } from './config-origin.ts';

/**
 * One source of settings. Layers are searched in order (flags, environment, project's file, user's file), and the first one
 * with a value wins.
 */
export interface Layer {
  /**
   * Values of the layer. A file has its own structure: `{ delivery: { timeout: '5s' } }`. Flags and variables have one key
   * per setting: `{ 'delivery.timeout': '5s' }`.
   */
  readonly values: unknown;
  /** The config file as displayed. Undefined for flags and the environment. */
  readonly file?: string;
  /** Folder from which relative paths in the layer's values are resolved. */
  readonly folder: string;
  /** Names of flags or variables by setting. Empty for a file, whose settings are named by their keys. */
  readonly names: Readonly<Partial<Record<Key, string>>>;
}

/** The value of a setting before parsing. */
export interface GivenSetting {
  readonly value: unknown;
  readonly origin: ConfigOrigin;
  readonly layer: Layer;
}

/**
 * Finds the setting in the first layer that has it. `prefix` is the path of the source or destination that has the setting,
 * in files of the long form. Layers of flags and variables are searched without the prefix.
 */
export function findSetting(
  layers: readonly Layer[],
  key: Key,
  prefix: readonly string[] = [],
): GivenSetting | undefined {
  for (const layer of layers) {
    const isFile = layer.file !== undefined;
    const above = isFile ? prefix : [];
    const value = valueAt(layer.values, isFile ? [...above, ...key.split('.')] : [key]);
    if (value !== undefined) return { value, layer, origin: settingOrigin(layer, key, above) };
  }
  return undefined;
}

function settingOrigin({ file, names }: Layer, key: Key, prefix: readonly string[]): ConfigOrigin {
  const name = names[key] ?? [...prefix, key].join('.');
  return file === undefined ? { name } : { name, file };
}

/** Keys of the objects that the layers have at a path, in the order of their first occurrence and without duplicates. */
export function keysAt(layers: readonly Layer[], path: readonly string[]): string[] {
  const found = layers.flatMap(({ values }) => {
    const value = valueAt(values, path);
    return isObject(value) ? Object.keys(value) : [];
  });
  return [...new Set(found)];
}

/** Paths of the objects that have settings in the long form: each source, followed by its destinations. */
export function longFormPaths(layers: readonly Layer[]): string[][] {
  return keysAt(layers, ['sources']).flatMap((name) => {
    const source = ['sources', name];
    const destinations = keysAt(layers, [...source, 'destinations']);
    return [source, ...destinations.map((each) => [...source, 'destinations', each])];
  });
}

export function valueAt(values: unknown, path: readonly string[]): unknown {
  let value = values;
  for (const part of path) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

/** Makes a layer from the flags or variables of settings. Skips settings whose value is undefined. */
export function layerOf(
  given: Readonly<Partial<Record<Key, { readonly name: string; readonly value: unknown } | undefined>>>,
  folder: string,
): Layer {
  const values: Record<string, unknown> = {};
  const names: Partial<Record<Key, string>> = {};
  for (const key of KEYS) {
    const entry = given[key];
    if (entry === undefined || entry.value === undefined) continue;
    values[key] = entry.value;
    names[key] = entry.name;
  }
  return { values, folder, names };
}

/**
 * Makes a layer of the environment variables. An empty variable counts as unset, because continuous integration sets
 * variables that have no value. An empty secret counts as set: using it is an error, because requests would be unsigned.
 */
export function environmentLayer(env: Readonly<NodeJS.ProcessEnv>, cwd: string): Layer {
  const entries = KEYS.flatMap((key) => {
    const name = fieldOf(key).env?.find((each) => env[each] || (key === 'sharedSecret' && env[each] === ''));
    return name === undefined ? [] : [[key, { name, value: fromText(key, env[name] ?? '') }] as const];
  });
  return layerOf(Object.fromEntries(entries), cwd);
}

/** A sentence for each variable that is probably meant for hooks and is not read. `referred`: variables that config files name. */
export function unreadVariables(env: Readonly<NodeJS.ProcessEnv>, referred: readonly string[]): string[] {
  const own = KEYS.flatMap((key) => fieldOf(key).env ?? []);
  const known = [...own, 'HOOKS_CONFIG', 'HOOKS_DATA_DIR', ...referred];
  const unset = known.filter((name) => env[name] === undefined);
  const given = Object.keys(env).filter((name) => /^hooks?_/i.test(name) && !known.includes(name));
  return given.flatMap((name) => {
    const meant = closest(name, unset);
    const what = meant === undefined ? wayOf(name) : `did you mean ${meant}?`;
    return what === undefined ? [] : [`${printable(name, 80)} is not read: ${what}`];
  });
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]|^hooks_/g, '');
}

/** How to set the setting that has the name of a variable. Undefined if there is none. */
function wayOf(variable: string): string | undefined {
  const word = plainName(variable);
  const key = KEYS.find(
    (each) =>
      plainName(each.replace(/.*\./, '')) === word || plainName(fieldOf(each).flag?.name ?? each) === word,
  );
  const { env, flag } = key === undefined ? {} : fieldOf(key);
  return key && `use ${[env?.[0] ?? flag?.name ?? [], `${key} in the config`].flat().join(' or ')}`;
}

function fromText(key: Key, text: string): unknown {
  if (key !== 'webhooks') return text;
  const urls = splitUrls(text).flatMap((part) => part.split(/\s+/).filter((url) => url !== ''));
  return urls.length === 0 ? undefined : urls;
}
