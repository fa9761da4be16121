import { ConfigError } from './errors.ts';
import { isObject, kindOf } from './kind-of.ts';
import { closest } from './suggest.ts';

/** The kind of an option's value. `given`: the option is checked where it is read. */
type OptionKind = 'a string' | 'a boolean' | 'a list' | 'an object' | 'a function' | 'given';

export interface KnownOptions {
  /** The option that holds these options, for error sentences. @default no other option holds them */
  readonly setting?: string;
  readonly kinds: Readonly<Record<string, OptionKind>>;
  readonly required?: readonly string[];
  /** Names that people write by mistake, each with the option that is meant. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/**
 * Throws ConfigError unless `options` is an object, and for an option that is unknown, missing or of another kind: JavaScript may
 * pass anything, and a misspelled option must not count as left out. An option that is undefined counts as absent.
 */
export function checkOptions(options: unknown, known: KnownOptions): void {
  const { setting, kinds, required = [] } = known;
  if (!isObject(options)) throw notOptionsError(options, known);
  for (const key of Object.keys(options))
    if (!Object.hasOwn(kinds, key)) throw unknownOptionError(key, known);
  for (const [key, kind] of Object.entries(kinds)) {
    const value = options[key];
    if (value === undefined ? !required.includes(key) : isOfKind(kind, value)) continue;
    const name = optionName(key, setting);
    throw new ConfigError(`Expected \`${name}\` to be ${kind}, got ${kindOf(value)}`, {
      key: name,
      hint: optionHint(value, required.includes(key)),
    });
  }
}

function isOfKind(kind: OptionKind, value: unknown): boolean {
  return kind === 'given' || (value === '' ? kind === 'a string' : kindOf(value) === kind);
}

function notOptionsError(got: unknown, { setting, kinds }: KnownOptions): ConfigError {
  const what = setting === undefined ? 'options' : `\`${setting}\` to be an object`;
  return new ConfigError(`Expected ${what}, got ${kindOf(got)}`, {
    ...(setting !== undefined && { key: setting }),
    hint: `the options are ${Object.keys(kinds).join(', ')}`,
  });
}

function unknownOptionError(key: string, { setting, kinds, otherNames = {} }: KnownOptions): ConfigError {
  const own = Object.keys(kinds);
  const names = new Map([...Object.entries(otherNames), ...own.map((name) => [name, name] as const)]);
  const meant = names.get(key) ?? names.get(`${key}Ms`) ?? names.get(closest(key, names.keys()) ?? '');
  const whose = setting === undefined ? '' : ` of \`${setting}\``;
  return new ConfigError(`Expected an option${whose}, got \`${key}\``, {
    key: optionName(key, setting),
    hint: meant === undefined ? `the options are ${own.join(', ')}` : `did you mean \`${meant}\`?`,
  });
}

function optionName(key: string, setting: string | undefined): string {
  return setting === undefined ? key : `${setting}.${key}`;
}

function optionHint(value: unknown, isRequired: boolean): string {
  if (value instanceof URL) return 'pass the URL as text: its `href`';
  return isRequired ? 'it cannot be left out' : 'leave it out to get its default';
}
