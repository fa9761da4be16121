import { ConfigError } from '../errors.ts';
import { configError, type ConfigOrigin, originOfPart } from './config-origin.ts';

/** `$${` is a literal `${`; `${NAME}` is a variable; any other `${` is a mistake. */
const REFERENCE = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;

/** The text with something else in the place of its references. */
export function withoutReferences(text: string, replacement: string): string {
  return text.replace(REFERENCE, (match, name: string | undefined) =>
    name === undefined ? match : replacement,
  );
}

/** The environment, or what stands in for it. */
type LookUp = (name: string) => string | undefined;

/** The variables that a value refers to, in all its strings. */
export function referencesIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(REFERENCE)].flatMap(([, name]) => name ?? []);
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}

/**
 * The value with every `${NAME}` of its strings taken from the environment. Called when a setting is used, so that a
 * variable which only another setting needs may be unset.
 */
export function fillIn(value: unknown, lookUp: LookUp, place: ConfigOrigin): unknown {
  if (typeof value === 'string') return fillInText(value, lookUp, place);
  if (Array.isArray(value))
    return value.map((each, i) => fillIn(each, lookUp, originOfPart(place, `[${i}]`)));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, fillIn(each, lookUp, originOfPart(place, `.${key}`))]),
  );
}

function fillInText(text: string, lookUp: LookUp, place: ConfigOrigin): string {
  return text.replace(REFERENCE, (match, name: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) throw malformed(place);
    const value = lookUp(name);
    if (value === undefined) throw unset(place, name);
    return value;
  });
}

/** Complains of a `${` that is no reference, without looking at the environment. The text is not shown: it may be a secret. */
export function checkReferences(value: unknown, place: ConfigOrigin): void {
  fillIn(value, () => '', place);
}

function malformed(place: ConfigOrigin): Error {
  return configError(
    place,
    `\`${place.name}\` holds a \`\${\` that names no variable`,
    'write ${NAME} for a variable, or $${ for the two characters themselves',
  );
}

/** The setting is well, but cannot be used here. */
export class UnsetVariableError extends ConfigError {}

function unset(place: ConfigOrigin, name: string): Error {
  const sentence = `\`${place.name}\` needs the environment variable ${name}, which is not set`;
  return configError(place, sentence, `set it: export ${name}=…`, UnsetVariableError);
}
