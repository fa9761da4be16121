import { Option, type Command } from 'commander';
import {
  defaultText,
  fieldOf,
  KEYS,
  SETTING_FIELDS,
  type Key,
  type ValueOf,
} from '../../config/table/fields.ts';
import type { SettingFlag } from '../../config/table/setting-field.ts';
import type { SettingKind } from '../../config/table/kinds.ts';
import { joinNames } from './flag-values.ts';

/** Adds the flags of settings, as the table of settings has them. */
export function addSettingFlags(command: Command, ...keys: readonly Key[]): Command {
  for (const key of keys) command.addOption(settingOption(key));
  return command;
}

/** The flag of a setting, for a command that has another use for it with a text of its own. */
export function settingOption(key: Key, text?: string): Option {
  const flag = flagOf(key);
  const { kind } = fieldOf(key);
  const { name, value } = flag;
  const usage = value === undefined ? name : `${name} ${value}`;
  const option = new Option(usage, helpLine(key, text ?? flag.text));
  // Repeated, it adds to the schemes before, as --secret does to the secrets.
  if (key === 'scheme') option.argParser(joinNames);
  return kind.choices === undefined ? option : option.choices(kind.choices);
}

/** The settings of a destination that flags gave, by key, with the default that they have at the prompt. */
export function givenByFlags(
  flags: Readonly<Partial<Record<string, unknown>>>,
): Partial<Record<Key, { readonly name: string; readonly value: unknown }>> {
  const keys = KEYS.filter(
    (key) => fieldOf(key).belongsTo === 'destination' && fieldOf(key).flag !== undefined,
  );
  return Object.fromEntries(
    keys.map((key) => {
      const { name, atPrompt } = flagOf(key);
      return [key, { name, value: flags[new Option(name).attributeName()] ?? atPrompt }];
    }),
  );
}

/** Reads a flag as the setting that it gives. Throws ConfigError. */
export function readFlag<K extends Key>(key: K, text: string | undefined): ValueOf<K> | undefined {
  return text === undefined ? undefined : parsedFlag(key, text);
}

/** Reads a flag, else its default at the prompt. Throws ConfigError. */
export function readFlagOrDefault<K extends Key>(key: K, text: string | undefined): ValueOf<K> {
  return parsedFlag(key, text ?? flagOf(key).atPrompt ?? defaultText(key) ?? '');
}

function parsedFlag<K extends Key>(key: K, text: string): ValueOf<K> {
  const kind = SETTING_FIELDS[key].kind as SettingKind<ValueOf<K>>; // the table's own entry for K, which TypeScript cannot tell
  return kind.parse(text, { name: flagOf(key).name });
}

function flagOf(key: Key): SettingFlag {
  const { flag } = fieldOf(key);
  if (flag === undefined) throw new Error(`the setting ${key} has no flag`);
  return flag;
}

function helpLine(key: Key, text: string): string {
  // Commander lists choices by itself, and the line would be longer than a terminal is wide. A switch is off.
  const { value, atPrompt } = flagOf(key);
  const isListed = value === undefined || fieldOf(key).kind.choices !== undefined;
  const standard = isListed ? undefined : (atPrompt ?? defaultText(key));
  return standard === undefined ? text : `${text} (default: ${standard})`;
}
