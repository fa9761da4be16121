import { kindOf } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { nearHint } from '../../suggest.ts';
import { BUILT_IN_SCHEMES, SEGMENT } from './built-in.ts';
import { schemeProblem } from './validate-scheme.ts';
import type { SignatureScheme } from './scheme.ts';

/** A choice of schemes: names (separated by commas), custom schemes, or a list of both. */
export type SchemeChoice = string | SignatureScheme | readonly (string | SignatureScheme)[];

/** The flag or setting that chose schemes, named in error messages. */
export interface SchemeOrigin {
  /** Flag or setting that chose the schemes: `--scheme`, or a path such as `sources.web.destinations.Webhooks.scheme`. */
  readonly key: string;
  /** The config file with the setting that chose the schemes, as displayed. */
  readonly file?: string | undefined;
}

export interface SchemeLookup extends SchemeOrigin {
  /** Custom schemes that can be chosen by name. */
  readonly custom?: readonly SignatureScheme[] | undefined;
}

/** Origins of the lists that `findSchemes` returned, for errors that occur later, such as an unusable secret. */
const found = new WeakMap<readonly SignatureScheme[], SchemeOrigin>();

/** The list of only the default scheme. */
export const DEFAULT_SCHEMES: readonly SignatureScheme[] = [SEGMENT];

/**
 * Resolves a choice of schemes, in its order and without duplicates. Throws ConfigError for an unknown name, an invalid
 * scheme, an empty choice, or two schemes with the same header.
 */
export function findSchemes(choice: SchemeChoice, lookup: SchemeLookup): readonly SignatureScheme[] {
  if (Array.isArray(choice) && found.has(choice)) return choice;
  const choices: readonly unknown[] = Array.isArray(choice) ? choice : [choice];
  const schemes = choices.flatMap((each) =>
    typeof each === 'string'
      ? each.split(',').map((name) => namedScheme(name.trim(), lookup))
      : [schemeFromObject(each, lookup)],
  );
  const distinct = [...new Set(schemes)];
  if (distinct.length === 0) {
    throw lookupError('Expected a signature scheme, got none', knownHint(BUILT_IN_SCHEMES), lookup);
  }
  rejectSharedHeaders(distinct, lookup);
  found.set(distinct, lookup);
  return distinct;
}

/** The origin of a list that `findSchemes` returned. Undefined for other lists. */
export function originOfSchemes(schemes: readonly SignatureScheme[]): SchemeOrigin | undefined {
  return found.get(schemes);
}

/** An origin at the end of a sentence: `(--scheme)`, ``(`scheme` from hooks.yaml)``. */
export function schemeOriginText({ key, file }: SchemeOrigin): string {
  return file === undefined ? `(${key})` : `(\`${key}\` from ${file})`;
}

function knownHint(schemes: readonly SignatureScheme[]): string {
  return `there are: ${schemes.map(({ name }) => printable(name, 80)).join(', ')}`;
}

function namedScheme(name: string, lookup: SchemeLookup): SignatureScheme {
  const all = [...BUILT_IN_SCHEMES, ...(lookup.custom ?? [])];
  const scheme = all.find((each) => each.name === name);
  if (scheme !== undefined) return scheme;
  if (name === '') {
    throw lookupError('Expected the name of a signature scheme, got an empty one', knownHint(all), lookup);
  }
  const names = all.map((each) => each.name);
  const hint = nearHint(name, names, `${knownHint(all)}; define your own under \`schemes\` in the config`);
  throw lookupError(`Unknown signature scheme \`${printable(name, 80)}\``, hint, lookup);
}

/** Validates a scheme object, unless it is a built-in scheme or one from the config. */
function schemeFromObject(value: unknown, lookup: SchemeLookup): SignatureScheme {
  const known = [...BUILT_IN_SCHEMES, ...(lookup.custom ?? [])].find((each) => each === value);
  if (known !== undefined) return known;
  const problem = schemeProblem(value);
  if (problem !== undefined) {
    const { part, expected, got, hint } = problem;
    throw lookupError(`Expected \`${lookup.key}${part}\` ${expected}, got ${got}`, hint, lookup);
  }
  const scheme = value as SignatureScheme; // validated above
  const nameProblem = schemeNameProblem(scheme.name);
  if (nameProblem === undefined) return scheme;
  throw lookupError(`Expected \`${lookup.key}.name\` ${nameProblem}`, 'give it a name of its own', lookup);
}

/**
 * The problem of a custom scheme's name, such as `to be a name, got a number`, to follow "Expected `KEY` ". Undefined if the
 * name is valid.
 */
export function schemeNameProblem(name: unknown): string | undefined {
  if (typeof name !== 'string') return `to be a name, got ${kindOf(name)}`;
  if (!/^[\w-]{1,64}$/.test(name)) return `to have letters, digits, - and _ only, got ${printable(name, 80)}`;
  if (!BUILT_IN_SCHEMES.some((each) => each.name === name)) return undefined;
  return `to differ from the names of built-in schemes, got ${name}`;
}

function rejectSharedHeaders(schemes: readonly SignatureScheme[], lookup: SchemeLookup): void {
  const owners = new Map<string, SignatureScheme>();
  for (const scheme of schemes) {
    for (const name of Object.keys(scheme.headers)) {
      const other = owners.get(name.toLowerCase());
      if (other !== undefined) {
        const both = `The schemes \`${other.name}\` and \`${scheme.name}\` both use the header ${name}`;
        throw lookupError(both, 'leave one of them out, or send to two destinations', lookup);
      }
      owners.set(name.toLowerCase(), scheme);
    }
  }
}

function lookupError(message: string, hint: string, origin: SchemeOrigin): ConfigError {
  const { key, file } = origin;
  const from = message.includes(`\`${key}`) ? '' : ` ${schemeOriginText(origin)}`;
  return new ConfigError(`${message}${from}`, { key, origin: file ?? key, hint });
}
