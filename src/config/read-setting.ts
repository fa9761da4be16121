import { resolve } from 'node:path';
import { fieldOf, SETTING_FIELDS, type Key, type ValueOf } from './fields.ts';
import type { SettingKind } from './kinds.ts';
import { findSetting, type Layer } from './layer.ts';
import { fillIn } from './references.ts';

/** Where settings are looked for, and where the variables of their `${NAME}` are. */
export interface SettingScope {
  /** The strongest first. */
  readonly layers: readonly Layer[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Below it a long form keeps the settings; empty for the short form. */
  readonly prefix?: readonly string[];
}

/** A setting's value, else its default. Throws ConfigError for an unset variable or a value that is none. */
export function readSetting<K extends Key>(
  { layers, env, prefix }: SettingScope,
  key: K,
): ValueOf<K> | undefined {
  const kind = SETTING_FIELDS[key].kind as SettingKind<ValueOf<K>>; // the table's own entry for K, which TypeScript cannot tell
  const given = findSetting(layers, key, prefix);
  if (given === undefined) return fieldOf(key).default as ValueOf<K> | undefined; // the same
  const { value, origin, layer } = given;
  // `${NAME}` is a thing of files: a flag's text is what the shell made of it.
  const filled = layer.file === undefined ? value : fillIn(value, (name) => env[name], origin);
  return kind.parse(fieldOf(key).isPath ? absolute(filled, layer.folder) : filled, origin);
}

/** A setting that has a default, so that it always has a value. */
export function readWithDefault<K extends Key>(scope: SettingScope, key: K): ValueOf<K> {
  return readSetting(scope, key) as ValueOf<K>; // callers name keys with a default only; `read` cannot tell them apart
}

/** `./ca.pem` and `sqlite:./hooks.db` are meant from where they are written. Other texts stay as they are. */
function absolute(value: unknown, folder: string): unknown {
  if (typeof value !== 'string' || value === '') return value;
  const [, scheme = '', path = value] = /^(sqlite:)(.*)$/is.exec(value) ?? [];
  const isUrl = /^[a-z][a-z0-9+.-]*:/i.test(path) || path.startsWith('//') || path.startsWith(':');
  return isUrl || path === '' ? value : scheme + resolve(folder, path);
}
