import { ConfigError } from '../errors.ts';
import { configError, originOfPart, type ConfigOrigin } from './config-origin.ts';

/** `$${` is a literal `${`; `${NAME}` is a variable; any other `${` is a mistake. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

export function withoutReferences(text: string, replacement: string): string {
  return text.replace(REFERENCE, (match, name: string | undefined) =>
    name === undefined ? match : replacement,
  );
}

/** Looks up a variable in the environment, or in a substitute. */
type LookUp = (name: string) => string | undefined;

/** The variables that a value refers to, in all its strings. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/**
 * Replaces every `${NAME}` in the strings of a value by its variable. Called when a setting is used, so that a
 * variable which only another setting needs may be unset.
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

/** Throws ConfigError for a `${` that is not a reference, without the environment. Does not show the text, which may be a secret. */
export function validateReferences(value: unknown, origin: ConfigOrigin): void {
  fillIn(value, () => '', origin);
}

function malformed(origin: ConfigOrigin): Error {
  return configError(
    origin,
    `\`${origin.name}\` holds a \`\${\` that names no variable`,
    'write ${NAME} for a variable, or $${ for the two characters themselves',
  );
}

/** The setting is valid, but its variable is not set here. */
export class UnsetVariableError extends ConfigError {}

function unset(origin: ConfigOrigin, name: string): Error {
  const sentence = `\`${origin.name}\` needs the environment variable ${name}, which is not set`;
  return configError(origin, sentence, `set it: export ${name}=…`, UnsetVariableError);
}
