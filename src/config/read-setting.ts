import { resolve } from 'node:path';
import { fieldOf, SETTING_FIELDS, type Key, type ValueOf } from './table/fields.ts';
import type { SettingKind } from './table/kinds.ts';
import { findSetting, type Layer } from './layer.ts';
import { fillIn } from './references.ts';

/** The layers to search for settings, and the variables for their `${NAME}`. */
export interface SettingScope {
  /** The strongest first. */
  readonly layers: readonly Layer[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The path of the settings in the long form; empty for the short form. */
  readonly prefix?: readonly string[];
}

/** Reads a setting's value, else its default. Throws ConfigError for an unset variable or an invalid value. */
export function readSetting<K extends Key>(
  { layers, env, prefix }: SettingScope,
  key: K,
): ValueOf<K> | undefined {
  const kind = SETTING_FIELDS[key].kind as SettingKind<ValueOf<K>>; // the table's own entry for K, which TypeScript cannot tell
  const given = findSetting(layers, key, prefix);
  if (given === undefined) return fieldOf(key).default as ValueOf<K> | undefined; // the same
  const { value, origin, layer } = given;
  // `${NAME}` applies to files only: the shell has already expanded a flag's text.
  const filled = layer.file === undefined ? value : fillIn(value, (name) => env[name], origin);
  const isPath = fieldOf(key).isPath === true && typeof filled === 'string';
  return kind.parse(isPath ? resolvePath(layer.folder, filled) : filled, origin);
}

/** Reads a setting that has a default, and so always a value. */
export function readWithDefault<K extends Key>(scope: SettingScope, key: K): ValueOf<K> {
  return readSetting(scope, key) as ValueOf<K>; // callers name keys with a default only; `read` cannot tell them apart
}

/**
 * Resolves `./ca.pem` and `sqlite:./hooks.db` from the folder of their file, or of the command. Other texts stay unchanged, also
 * `~/hooks.db`: what opens the file rejects it with its reason.
 */
export function resolvePath(folder: string, text: string): string {
  const [, scheme = '', path = text] = /^(sqlite:)(?:\/\/(?=\/|[^/]*$))?(.*)$/is.exec(text) ?? [];
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('//') || path.startsWith(':');
  return isUrl || path === '' || HOME.test(path) ? text : scheme + resolve(folder, path);
}

/** `~/hooks.db`, `~me/hooks.db`: a shell puts a folder in its place. */
const HOME = /^~[^/\\]*[/\\]/;
