import { Option, type Command } from 'commander';
import { defaultText, fieldOf, SETTING_FIELDS, type Key, type ValueOf } from '../../config/table/fields.ts';
import type { SettingFlag } from '../../config/table/setting-field.ts';
import type { SettingKind } from '../../config/table/kinds.ts';
import { given, joinNames } from './flag-values.ts';
import { collectUrl } from './short-url.ts';

/** Adds the flags of settings, as the table of settings has them. */
export function addSettingFlags(command: Command, ...keys: readonly Key[]): Command {
  for (const key of keys) command.addOption(settingOption(key));
  return command;
}

/** How commander reads the flags that may be repeated, or must not be empty. */
const PARSED: Readonly<Partial<Record<Key, (option: Option) => Option>>> = {
  webhooks: (option) => option.argParser(collectUrl),
  scheme: (option) => option.argParser(joinNames),
  'delivery.ca': (option) => option.argParser(given),
};

/** The flag of a setting, for a command that has another use for it with a text of its own. */
export function settingOption(key: Key, text?: string): Option {
  const flag = flagOf(key);
  const { kind } = fieldOf(key);
  const { name, value } = flag;
  const usage = value === undefined ? name : `${name} ${value}`;
  const plain = new Option(usage, helpLine(key, text ?? flag.text));
  const option = PARSED[key]?.(plain) ?? plain;
  return kind.choices === undefined ? option : option.choices(kind.choices);
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

/** The flag of a setting that has one. */
export function flagOf(key: Key): SettingFlag {
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
