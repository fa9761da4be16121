import type { DeliveryOptions } from '../../engine/options.ts';
import type { SettingKind } from './kinds.ts';

/** The flag of a setting, for the parser and the help. */
export interface SettingFlag {
  readonly name: `--${string}`;
  /** Placeholder of the value in the help: `<duration>`. Undefined for a switch. */
  readonly value?: `<${string}>`;
  /** Line of the help, without the default. */
  readonly text: string;
  /** Default at the prompt, if it differs from the default of the setting. */
  readonly atPrompt?: string;
}

/**
 * One setting. The validation of config files, their JSON Schema, the flags, their help, `hooks config` and the table of
 * docs/configuration.md are generated from these records.
 */
export interface SettingField<T> {
  readonly kind: SettingKind<T>;
  /** Description in one line. */
  readonly describe: string;
  /**
   * Position in the long form: `source` settings are under `sources.<name>`, `destination` settings under their destination.
   */
  readonly belongsTo: 'everything' | 'source' | 'destination';
  readonly flag?: SettingFlag;
  /** Variables of the setting. The first that is set and not empty wins. */
  readonly env?: readonly string[];
  readonly default?: T;
  /** Describes the behavior without a value, if there is no default. */
  readonly otherwise?: string;
  /** Marks a value that is never shown. */
  readonly isSecret?: true;
  /** Marks a value that is or has a path. Relative paths are resolved from the folder of the file. */
  readonly isPath?: true;
  /** The delivery option that the setting configures. */
  readonly option?: keyof DeliveryOptions;
  /** Marks an option of ConnectionOptions, which also applies to URLs from outside the config. */
  readonly isConnection?: true;
  /** Marks a setting that is not in the short form, whose only destination is always enabled. */
  readonly longFormOnly?: true;
}
