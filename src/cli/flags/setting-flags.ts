import { Option, type Command } from 'commander';
import { defaultText, fieldOf, SETTING_FIELDS, type Key, type ValueOf } from '../../config/table/fields.ts';
import type { SettingFlag } from '../../config/table/setting-field.ts';
import type { SettingKind } from '../../config/table/kinds.ts';
import { given, joinNames } from './flag-values.ts';
import { collectUrl } from './short-url.ts';

/** Adds the flags that the table of settings has for these keys. */
export function addSettingFlags(command: Command, ...keys: readonly Key[]): Command {
  for (const key of keys) command.addOption(settingOption(key));
  return command;
}

type FlagParser = (text: string, before: never) => unknown;

/** Commander's parsers for flags that can be repeated or must not be empty. */
const PARSERS: Readonly<Partial<Record<Key, FlagParser>>> = {
  webhooks: collectUrl,
  scheme: joinNames,
  'delivery.ca': given,
};

/** Creates the option of a setting. `text` replaces the help line of the table. */
export function settingOption(key: Key, text?: string): Option {
  const flag = flagOf(key);
  const { kind } = fieldOf(key);
  const { name, value } = flag;
  const usage = value === undefined ? name : `${name} ${value}`;
  const option = new Option(usage, helpLine(key, text ?? flag.text));
  const parse = PARSERS[key] as ((text: string, before: unknown) => unknown) | undefined; // commander passes what it returned before
  if (parse !== undefined) option.argParser(parse);
  return kind.choices === undefined ? option : option.choices(kind.choices);
}

/** Parses a flag's text as the value of its setting. Throws ConfigError. */
export function readFlag<K extends Key>(key: K, text: string | undefined): ValueOf<K> | undefined {
  return text === undefined ? undefined : parsedFlag(key, text);
}

/** Parses a flag's text, or its default at the prompt if the flag is not given. Throws ConfigError. */
export function readFlagOrDefault<K extends Key>(key: K, text: string | undefined): ValueOf<K> {
  return parsedFlag(key, text ?? flagOf(key).atPrompt ?? defaultText(key) ?? '');
}

function parsedFlag<K extends Key>(key: K, text: string): ValueOf<K> {
  const kind = SETTING_FIELDS[key].kind as SettingKind<ValueOf<K>>; // the table's own entry for K, which TypeScript cannot tell
  return kind.parse(text, { name: flagOf(key).name });
}

/** Returns the flag of a setting. Throws for a setting without one. */
export function flagOf(key: Key): SettingFlag {
  const { flag } = fieldOf(key);
  if (flag === undefined) throw new Error(`the setting ${key} has no flag`);
  return flag;
}

function helpLine(key: Key, text: string): string {
  // The help line names the default, unless commander already lists choices, or the flag is a switch, whose default is off.
  const { value, atPrompt } = flagOf(key);
  const isListed = value === undefined || fieldOf(key).kind.choices !== undefined;
  const standard = isListed ? undefined : (atPrompt ?? defaultText(key));
  return standard === undefined ? text : `${text} (default: ${standard})`;
}
