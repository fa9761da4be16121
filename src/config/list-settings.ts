import { isSecretHeader, MASK, redactUrl } from '../redact.ts';
import { fieldOf, KEYS, type Key } from './table/fields.ts';
import type { SettingField } from './table/setting-field.ts';
import { isObject } from '../validate-options.ts';
import { findSetting, longFormPaths, type Layer } from './layer.ts';
import { referencesIn } from './references.ts';
import { hasSourcesForm, type SettingLayers } from './sources.ts';

/** A setting as displayed, without secrets. */
export interface ListedSetting {
  /** Path of the setting in a config file: `sources.web.destinations.Webhooks.delivery.timeout`. */
  readonly key: string;
  /**
   * The value to show: as configured, with secrets masked and references not replaced. Without a configured value, the
   * default; without a default, null.
   */
  readonly value: unknown;
  /** The file or variable that the setting's value is from, or `default`. */
  readonly origin: string;
  /** Environment variables that the setting's value refers to and that are not set: using the setting fails. */
  readonly unset?: readonly string[];
  /** Config files that have a value for the setting, which a variable overrides. */
  readonly hides?: readonly string[];
}

/** Lists every setting with its origin. */
export function listSettings(given: SettingLayers, dataDir: string | undefined): readonly ListedSetting[] {
  const rows = hasSourcesForm(given.files) ? longForm(given) : shortForm(given);
  const origin = given.env['HOOKS_DATA_DIR'] ? 'HOOKS_DATA_DIR' : 'default';
  return [...rows, { key: 'dataDir', value: dataDir ?? null, origin }];
}

function shortForm(given: SettingLayers): ListedSetting[] {
  return KEYS.filter((key) => fieldOf(key).longFormOnly === undefined).map((key) => listed(given, key, []));
}

function longForm(given: SettingLayers): ListedSetting[] {
  const inside = longFormPaths(given.files).flatMap((path) => {
    const place = path[2] === 'destinations' ? 'destination' : 'source';
    const keys = KEYS.filter((key) => fieldOf(key).belongsTo === place);
    return keys.map((key) => listed(given, key, path));
  });
  return [...outsideSources(given), ...inside];
}

/**
 * Lists the settings outside all sources. Also lists settings of a source that environment variables set, because these
 * apply to the source of a command at the prompt.
 */
function outsideSources(given: SettingLayers): ListedSetting[] {
  const keys = KEYS.filter(
    (key) => fieldOf(key).belongsTo === 'everything' || findSetting([given.environment], key) !== undefined,
  );
  return keys.map((key) => listed(given, key, []));
}

function listed(
  { files, environment, env }: SettingLayers,
  key: Key,
  prefix: readonly string[],
): ListedSetting {
  const layers: readonly Layer[] = prefix.length === 0 ? [environment, ...files] : files;
  const found = findSetting(layers, key, prefix);
  const name = [...prefix, key].join('.');
  if (found === undefined) return { key: name, value: defaultValue(key), origin: 'default' };
  const row = {
    key: name,
    value: masked(fieldOf(key), found.value),
    origin: found.origin.file ?? found.origin.name,
  };
  if (found.layer.file === undefined) return { ...row, ...hiddenBy(files, key, found.origin.name) };
  const unset = referencesIn(found.value).filter((variable) => env[variable] === undefined);
  return unset.length === 0 ? row : { ...row, unset: [...new Set(unset)] };
}

/** Files whose value for a setting is overridden by `variable`. Skips a file whose value only refers to that variable. */
function hiddenBy(
  files: readonly Layer[],
  key: Key,
  variable: string,
): { readonly hides?: readonly string[] } {
  const hides = files.flatMap((layer) => {
    const value = findSetting([layer], key, [])?.value;
    const isSame = [value].flat().every((one) => one === `\${${variable}}`);
    return layer.file === undefined || value === undefined || isSame ? [] : [layer.file];
  });
  return hides.length === 0 ? {} : { hides };
}

function defaultValue(key: Key): unknown {
  const { default: value, kind } = fieldOf(key);
  return value === undefined ? null : (kind.show?.(value) ?? value);
}

function masked({ isSecret }: SettingField<unknown>, value: unknown): unknown {
  return isSecret ? maskedSecret(value) : withoutSecrets(value);
}

/** Masks a secret. Does not mask a reference without text next to it, which is not secret. */
function maskedSecret(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskedSecret);
  return isReference(value) ? value : MASK;
}

function isReference(value: unknown): boolean {
  return typeof value === 'string' && /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(value);
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return redactUrl(value);
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [
      name,
      isSecretHeader(name) ? maskedSecret(each) : withoutSecrets(each),
    ]),
  );
}
