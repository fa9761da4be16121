import type { DeliveryOptions } from '../../engine/options.ts';
import type { SettingKind } from './kinds.ts';

/** A flag of a setting, from which the parser and the help are made. */
export interface SettingFlag {
  readonly name: `--${string}`;
  /** How the help names its value: `<duration>`. Undefined: it is a switch. */
  readonly value?: `<${string}>`;
  /** A line of the help, without the default. */
  readonly text: string;
  /** The default at the prompt, if it is not that of the setting. */
  readonly atPrompt?: string;
}

/**
 * One setting, wherever it can be given. The check of config files, their JSON Schema, the flags, their help, `hooks config` and the
 * table of docs/configuration.md are made from these.
 */
export interface SettingField<T> {
  readonly kind: SettingKind<T>;
  /** One line for a person. */
  readonly describe: string;
  /** In the long form a `source` setting is below `sources.<name>`, a `destination` one below its destination. */
  readonly belongsTo: 'everything' | 'source' | 'destination';
  readonly flag?: SettingFlag;
  /** The first of these variables that is set and not empty gives it. */
  readonly env?: readonly string[];
  readonly default?: T;
  /** What happens without a value, if there is no default. */
  readonly otherwise?: string;
  /** Never shown. */
  readonly isSecret?: true;
  /** The value is or holds a path; a relative one starts at the file's folder. */
  readonly isPath?: true;
  /** The option of a program that the setting gives. */
  readonly option?: keyof DeliveryOptions;
  /** The option is one of ConnectionOptions, which also hold for URLs from outside the config. */
  readonly isConnection?: true;
  /** Not in the short form, whose only destination is on. */
  readonly longFormOnly?: true;
}
