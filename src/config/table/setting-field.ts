import type { DeliveryOptions } from '../../engine/options.ts';
import type { SettingKind } from './kinds.ts';

/** The flag of a setting, for the parser and the help. */
export interface SettingFlag {
  readonly name: `--${string}`;
  /** Placeholder of the value in the help: `<duration>`. Undefined for a switch. */
  readonly value?: `<${string}>`;
  /** Line of the help about the flag, without the default. */
  readonly text: string;
  /** Default of the flag for a command at the prompt, if it differs from the default of the setting. */
  readonly atPrompt?: string;
}

/**
 * One setting. The validation of config files, their JSON Schema, the flags, their help, `hooks config` and the table of
 * docs/configuration.md are generated from these records.
 */
export interface SettingField<T> {
  readonly kind: SettingKind<T>;
  /** Description of the setting in one line. */
  readonly describe: string;
  /**
   * Position of the setting in the long form: `source` settings are under `sources.<name>`, `destination` settings under a
   * destination of the source.
   */
  readonly belongsTo: 'everything' | 'source' | 'destination';
  readonly flag?: SettingFlag;
  /** Environment variables that give the setting a value. The first one that is set and not empty wins. */
  readonly env?: readonly string[];
  readonly default?: T;
  /** Describes for the help what happens if a setting without a default has no value. */
  readonly otherwise?: string;
  /** Marks a setting whose value is never shown. */
  readonly isSecret?: true;
  /** Marks a setting whose value is or has a path. Relative paths are resolved from the folder of the config file. */
  readonly isPath?: true;
  /** The delivery option that the setting configures. */
  readonly option?: keyof DeliveryOptions;
  /** Marks an option of ConnectionOptions. Such a setting also applies to connections to URLs outside the config. */
  readonly isConnection?: true;
  /** Marks a setting that only the long form has. In the short form, the only destination is always enabled. */
  readonly longFormOnly?: true;
}
