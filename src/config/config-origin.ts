import { ConfigError } from '../errors.ts';
import { kindOf } from '../validate-options.ts';
import { printable } from '../redact.ts';

/** Origin of a value, for errors: a key of a config file, a variable, or a flag. */
export interface ConfigOrigin {
  /** `delivery.timeout`, `HOOKS_URL`, `--timeout`. */
  readonly name: string;
  /** Config file as displayed; absent for a variable or a flag. */
  readonly file?: string;
}

/**
 * The origin of a part of a value: `webhooks` becomes `webhooks[1].url`. Does not change the name of a variable or a flag.
 */
export function originOfPart(origin: ConfigOrigin, part: string): ConfigOrigin {
  return origin.file === undefined ? origin : { ...origin, name: `${origin.name}${part}` };
}

/** Makes an error such as ``Expected `delivery.timeout` to be from 1ms to 30s, got -1 (from .hooksrc.yaml)`` */
export function unexpectedValue(origin: ConfigOrigin, what: string, got: string, hint?: string): ConfigError {
  return configError(origin, `Expected \`${origin.name}\` ${what}, got ${got}`, hint);
}

/** Makes an error with the origin, and appends the file to its sentence. */
export function configError(
  origin: ConfigOrigin,
  sentence: string,
  hint?: string,
  Kind = ConfigError,
): ConfigError {
  const from = origin.file === undefined ? '' : ` (from ${origin.file})`;
  return new Kind(`${sentence}${from}`, { key: origin.name, origin: origin.file ?? origin.name, hint });
}

/** Describes a value in an error: a list or an object only by its kind. Not for secrets. */
export function shownSetting(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return printable(value, 80);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return kindOf(value);
}
