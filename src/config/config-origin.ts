import { ConfigError } from '../errors.ts';
import { kindOf } from '../kind-of.ts';
import { printable } from '../redact.ts';

/** Where a value was given, as an error names it: a key of a config file, a variable, or a flag. */
export interface ConfigOrigin {
  /** `delivery.timeout`, `HOOKS_URL`, `--timeout`. */
  readonly name: string;
  /** The config file, as shown to a person; absent for a variable or a flag. */
  readonly file?: string;
}

/** The place of a part of a value: `webhooks` becomes `webhooks[1].url`. A variable or a flag stays what it is. */
export function originOfPart(place: ConfigOrigin, part: string): ConfigOrigin {
  return place.file === undefined ? place : { ...place, name: `${place.name}${part}` };
}

/** ``Expected `delivery.timeout` to be from 1ms to 30s, got -1 (from hooks.config.js)`` */
export function unexpectedValue(place: ConfigOrigin, what: string, got: string, hint?: string): ConfigError {
  return configError(place, `Expected \`${place.name}\` ${what}, got ${got}`, hint);
}

/** A sentence about the place, with the file it is in at its end. */
export function configError(
  place: ConfigOrigin,
  sentence: string,
  hint?: string,
  Kind = ConfigError,
): ConfigError {
  const from = place.file === undefined ? '' : ` (from ${place.file})`;
  return new Kind(`${sentence}${from}`, { key: place.name, origin: place.file ?? place.name, hint });
}

/** A value as an error shows it: its kind where the value itself would be long, and never for a secret. */
export function shownSetting(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return printable(value, 80);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return kindOf(value);
}
