import { resolve } from 'node:path';
import { fieldOf, SETTING_FIELDS, type Key, type ValueOf } from './table/fields.ts';
import type { SettingKind } from './table/kinds.ts';
import { findSetting, type Layer } from './layer.ts';
import { fillIn } from './references.ts';

/** Layers to search for settings, and the environment that replaces `${NAME}` in their values. */
export interface SettingScope {
  /** Layers to search, the one with the highest priority first. */
  readonly layers: readonly Layer[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Path of the source or destination whose settings are read, in a config with `sources`. Empty for a config without. */
  readonly prefix: readonly string[];
}

/**
 * Reads the value of a setting, or its default. Throws ConfigError if the value is invalid, or if it refers to an
 * environment variable (`${NAME}`) that is unset.
 */
export function readSetting<K extends Key>(
  { layers, env, prefix }: SettingScope,
  key: K,
): ValueOf<K> | undefined {
  const kind = SETTING_FIELDS[key].kind as SettingKind<ValueOf<K>>; // the entry for K, which TypeScript cannot infer
  const given = findSetting(layers, key, prefix);
  if (given === undefined) return fieldOf(key).default as ValueOf<K> | undefined; // as above
  const { value, origin, layer } = given;
  // `${NAME}` is replaced only in files, because the shell has already expanded the variables in flags.
  const filled = layer.file === undefined ? value : fillIn(value, (name) => env[name], origin);
  const isPath = fieldOf(key).isPath === true && typeof filled === 'string';
  return kind.parse(isPath ? resolvePath(layer.folder, filled) : filled, origin);
}

/** Reads a setting that has a default, and therefore always a value. */
export function readWithDefault<K extends Key>(scope: SettingScope, key: K): ValueOf<K> {
  return readSetting(scope, key) as ValueOf<K>; // callers pass only keys with a default, which the types do not distinguish
}

/**
 * Resolves `./ca.pem` and `sqlite:./hooks.db` from the folder of the config file or of the command. Returns other texts
 * unchanged, including `~/hooks.db`, which is rejected with its reason when the file is opened.
 */
export function resolvePath(folder: string, text: string): string {
  const [, scheme = '', path = text] = /^(sqlite:)(?:\/\/(?=\/|[^/]*$))?(.*)$/is.exec(text) ?? [];
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('//') || path.startsWith(':');
  return isUrl || path === '' || HOME.test(path) ? text : scheme + resolve(folder, path);
}

/** Matches `~/hooks.db` and `~me/hooks.db`, which only a shell expands. */
const HOME = /^~[^/\\]*[/\\]/;
