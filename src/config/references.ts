import { ConfigError } from '../errors.ts';
import { configError, originOfPart, type ConfigOrigin } from './config-origin.ts';

/** Matches `$${` (a literal `${`), `${NAME}` (a variable), and any other `${` (an error). */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/** Replaces each `${NAME}` in a text by the same replacement. */
export function withoutReferences(text: string, replacement: string): string {
  return text.replace(REFERENCE, (match, name: string | undefined) =>
    name === undefined ? match : replacement,
  );
}

/** Returns the value of an environment variable, or a substitute for it. Undefined if the variable is not set. */
type LookUp = (name: string) => string | undefined;

/** Names of the variables in all strings of a value. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/**
 * Replaces every `${NAME}` in the strings of a value by the value of the variable. Called when a setting is used, so that a
 * variable may be unset as long as its setting is not used.
 */
export function fillIn(value: unknown, lookUp: LookUp, origin: ConfigOrigin): unknown {
  if (typeof value === 'string') return fillInText(value, lookUp, origin);
  if (Array.isArray(value)) {
    return value.map((each, i) => fillIn(each, lookUp, originOfPart(origin, `[${i}]`)));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fillIn(each, lookUp, originOfPart(origin, `.${key}`))]),
  );
}

function fillInText(text: string, lookUp: LookUp, origin: ConfigOrigin): string {
  return text.replace(REFERENCE, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) throw malformed(origin);
    const value = lookUp(name);
    if (value === undefined) throw unset(origin, name);
    return value;
  });
}

/**
 * Throws ConfigError if a string in the value has a `${` that does not begin a reference. Does not show the string, which
 * can be a secret.
 */
export function validateReferences(value: unknown, origin: ConfigOrigin): void {
  fillIn(value, () => '', origin);
}

function malformed(origin: ConfigOrigin): Error {
  return configError(
    origin,
    `\`${origin.name}\` has a \`\${\` without the name of a variable`,
    'write ${NAME} for a variable, or $${ for a literal ${',
  );
}

/** The error of a valid setting that refers to an environment variable that is not set. */
export class UnsetVariableError extends ConfigError {}

function unset(origin: ConfigOrigin, name: string): Error {
  const sentence = `\`${origin.name}\` needs the environment variable ${name}, which is not set`;
  return configError(origin, sentence, `set it: export ${name}=…`, UnsetVariableError);
}
