import { ConfigError } from '../errors.ts';
import { kindOf } from '../validate-options.ts';
import { printable } from '../redact.ts';
import { oddForm } from './odd-form.ts';

/** Origin of a value, for errors: a key of a config file, a variable, or a flag. */
export interface ConfigOrigin {
  /** Name of the key, variable or flag: `delivery.timeout`, `HOOKS_URL`, `--timeout`. */
  readonly name: string;
  /** The config file as displayed. Undefined for a variable or a flag. */
  readonly file?: string;
}

/**
 * The origin of a part of a setting's value: the name `webhooks` becomes `webhooks[1].url`. A variable or flag keeps its
 * name.
 */
export function originOfPart(origin: ConfigOrigin, part: string): ConfigOrigin {
  return origin.file === undefined ? origin : { ...origin, name: `${origin.name}${part}` };
}

/**
 * Makes an error such as ``Expected `delivery.timeout` to be from 1ms to 30s, got -1 (from .hooksrc.yaml)``. An odd
 * form of the value, such as a variable that was not replaced, is the likeliest mistake, so its hint replaces `hint`.
 */
export function unexpectedValue(origin: ConfigOrigin, what: string, got: string, hint?: string): ConfigError {
  const sentence = `Expected \`${origin.name}\` ${what}, got ${got}`;
  return configError(origin, sentence, unreplacedVariableHint(origin, got) ?? oddFormHint(got) ?? hint);
}

function oddFormHint(got: string): string | undefined {
  const odd = oddForm(got);
  return odd && `the value ${odd.what}; ${odd.fix}`;
}

function unreplacedVariableHint({ file }: ConfigOrigin, got: string): string | undefined {
  const [written, name] = /\$([A-Za-z_]\w*)|%[A-Z_]+%/.exec(got) ?? [];
  if (written === undefined) return undefined;
  return file === undefined
    ? `no shell replaced ${written}: write it without quotes or in double quotes`
    : `write \${${name ?? written.slice(1, -1)}}: a config takes a variable in braces only`;
}

/** Makes an error with the setting's origin. If the origin is a config file, the sentence gets ` (from FILE)` at its end. */
export function configError(
  origin: ConfigOrigin,
  sentence: string,
  hint?: string,
  Kind = ConfigError,
): ConfigError {
  const from = origin.file === undefined ? '' : ` (from ${origin.file})`;
  return new Kind(`${sentence}${from}`, { key: origin.name, origin: origin.file ?? origin.name, hint });
}

/**
 * Describes the value of a setting in an error. A list or an object is described only by its kind. Must not be called with a
 * secret.
 */
export function shownSetting(value: unknown): string {
  if (value === '') return 'an empty string';
  if (typeof value === 'string') return printable(value, 80);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return kindOf(value);
}
