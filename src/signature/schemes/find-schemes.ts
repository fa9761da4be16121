import { kindOf } from '../../validate-options.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';
import { BUILT_IN_SCHEMES, DEFAULT_SCHEME } from './built-in.ts';
import { schemeFault } from './check-scheme.ts';
import type { SignatureScheme } from './scheme.ts';

/** Schemes as they are chosen: names, with commas between several, and schemes of one's own. */
export type SchemeChoice = string | SignatureScheme | readonly (string | SignatureScheme)[];

/** Where schemes were chosen, for errors. */
export interface SchemeOrigin {
  /** `--scheme`, `sources.web.destinations.Webhooks.scheme`. */
  readonly key: string;
  /** The config file, as shown to a person. */
  readonly file?: string | undefined;
}

export interface SchemeLookup extends SchemeOrigin {
  /** Schemes besides those built in, by name. */
  readonly custom?: readonly SignatureScheme[] | undefined;
}

/** The schemes that were found, and where they were chosen: whether they can be used shows later. */
const found = new WeakMap<readonly SignatureScheme[], SchemeOrigin>();

/** The default alone: what is meant when nothing is chosen. */
export const DEFAULT_SCHEMES: readonly SignatureScheme[] = BUILT_IN_SCHEMES.filter(
  ({ name }) => name === DEFAULT_SCHEME,
);

/**
 * The schemes that are chosen, each once, in their order. Throws ConfigError for an unknown name, a scheme that cannot be used, none at
 * all, and two that want the same header.
 */
export function findSchemes(choice: SchemeChoice, lookup: SchemeLookup): readonly SignatureScheme[] {
  if (Array.isArray(choice) && found.has(choice)) return choice;
  const choices: readonly unknown[] = Array.isArray(choice) ? choice : [choice];
  const schemes = choices.flatMap((each) =>
    typeof each === 'string'
      ? each.split(',').map((name) => namedScheme(name.trim(), lookup))
      : [ownScheme(each, lookup)],
  );
  const distinct = [...new Set(schemes)];
  if (distinct.length === 0) {
    throw lookupError('Expected a signature scheme, got none', knownHint(BUILT_IN_NAMES), lookup);
  }
  rejectSharedHeaders(distinct, lookup);
  found.set(distinct, lookup);
  return distinct;
}

/** Where schemes were chosen; undefined for those that were not chosen. */
export function originOfSchemes(schemes: readonly SignatureScheme[]): SchemeOrigin | undefined {
  return found.get(schemes);
}

/** An origin as it ends a sentence: `(--scheme)`, ``(`scheme` from hooks.yaml)``. */
export function schemeOriginText({ key, file }: SchemeOrigin): string {
  return file === undefined ? `(${key})` : `(\`${key}\` from ${file})`;
}

const BUILT_IN_NAMES = BUILT_IN_SCHEMES.map(({ name }) => name);

function knownHint(names: readonly string[]): string {
  return `there are: ${names.map((each) => printable(each, 80)).join(', ')}`;
}

function namedScheme(name: string, lookup: SchemeLookup): SignatureScheme {
  const all = [...BUILT_IN_SCHEMES, ...(lookup.custom ?? [])];
  const scheme = all.find((each) => each.name === name);
  if (scheme !== undefined) return scheme;
  const names = all.map((each) => each.name);
  if (name === '') {
    throw lookupError('Expected the name of a signature scheme, got an empty one', knownHint(names), lookup);
  }
  const near = closest(name, names) ?? names.find((each) => each.startsWith(name.toLowerCase()));
  const hint =
    near === undefined
      ? `${knownHint(names)}; schemes of your own stand under \`schemes\` in the config`
      : `did you mean ${printable(near, 80)}?`;
  throw lookupError(`Unknown signature scheme \`${printable(name, 80)}\``, hint, lookup);
}

/** A scheme of one's own, or a built-in one as it is. */
function ownScheme(value: unknown, lookup: SchemeLookup): SignatureScheme {
  if (
    BUILT_IN_SCHEMES.some((each) => each === value) ||
    lookup.custom?.some((each) => each === value) === true
  ) {
    return value as SignatureScheme; // one of them
  }
  const fault = schemeFault(value);
  if (fault !== undefined) {
    const { part, expected, got, hint } = fault;
    throw lookupError(`Expected \`${lookup.key}${part}\` ${expected}, got ${got}`, hint, lookup);
  }
  const scheme = value as SignatureScheme; // as was checked
  const nameFault = schemeNameFault(scheme.name);
  if (nameFault === undefined) return scheme;
  throw lookupError(`Expected \`${lookup.key}.name\` ${nameFault}`, 'give it a name of its own', lookup);
}

/** What is wrong with the name of a scheme of one's own; follows "Expected `KEY` ". */
export function schemeNameFault(name: unknown): string | undefined {
  if (typeof name !== 'string') return `to be a name, got ${kindOf(name)}`;
  if (!/^[\w-]{1,64}$/.test(name)) return `to have letters, digits, - and _ only, got ${printable(name, 80)}`;
  if (!BUILT_IN_SCHEMES.some((each) => each.name === name)) return undefined;
  return `to be another name than that of a built-in scheme, got ${name}`;
}

function rejectSharedHeaders(schemes: readonly SignatureScheme[], lookup: SchemeLookup): void {
  const owners = new Map<string, SignatureScheme>();
  for (const scheme of schemes) {
    for (const name of Object.keys(scheme.headers)) {
      const other = owners.get(name.toLowerCase());
      if (other !== undefined) {
        const both = `The schemes \`${other.name}\` and \`${scheme.name}\` both want the header ${name}`;
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
