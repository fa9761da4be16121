import { ConfigError } from './errors.ts';
import { isObject, kindOf } from './kind-of.ts';
import { closest } from './suggest.ts';

/** What an option may be; `given`: it is checked where it is read. */
type OptionKind = 'a string' | 'a boolean' | 'a list' | 'an object' | 'a function' | 'given';

export interface KnownOptions {
  /** Names the options in errors. @default they are not within another one */
  readonly setting?: string;
  readonly kinds: Readonly<Record<string, OptionKind>>;
  readonly required?: readonly string[];
  /** What an option may be called by mistake, and what is meant. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/**
 * Throws ConfigError for what is no object, and for an option that is unknown, missing or of another kind: JavaScript may give
 * anything, and what is misspelled must not pass for left out. An option that is undefined counts as absent.
 */
export function checkOptions(options: unknown, known: KnownOptions): void {
  const { setting, kinds, required = [] } = known;
  if (!isObject(options)) throw noOptions(options, known);
  for (const key of Object.keys(options)) if (!Object.hasOwn(kinds, key)) throw unknownOption(key, known);
  for (const [key, kind] of Object.entries(kinds)) {
    const value = options[key];
    if (value === undefined ? !required.includes(key) : isOf(kind, value)) continue;
    const name = nameOf(key, setting);
    throw new ConfigError(`Expected \`${name}\` to be ${kind}, got ${kindOf(value)}`, {
      key: name,
      hint: wayOut(value, required.includes(key)),
    });
  }
}

function isOf(kind: OptionKind, value: unknown): boolean {
  return kind === 'given' || (value === '' ? kind === 'a string' : kindOf(value) === kind);
}

function noOptions(got: unknown, { setting, kinds }: KnownOptions): ConfigError {
  const what = setting === undefined ? 'options' : `\`${setting}\` to be an object`;
  return new ConfigError(`Expected ${what}, got ${kindOf(got)}`, {
    ...(setting !== undefined && { key: setting }),
    hint: `the options are ${Object.keys(kinds).join(', ')}`,
  });
}

function unknownOption(key: string, { setting, kinds, otherNames = {} }: KnownOptions): ConfigError {
  const own = Object.keys(kinds);
  const names = new Map([...Object.entries(otherNames), ...own.map((name) => [name, name] as const)]);
  const meant = names.get(key) ?? names.get(`${key}Ms`) ?? names.get(closest(key, names.keys()) ?? '');
  const whose = setting === undefined ? '' : ` of \`${setting}\``;
  return new ConfigError(`Expected an option${whose}, got \`${key}\``, {
    key: nameOf(key, setting),
    hint: meant === undefined ? `the options are ${own.join(', ')}` : `did you mean \`${meant}\`?`,
  });
}

function nameOf(key: string, setting: string | undefined): string {
  return setting === undefined ? key : `${setting}.${key}`;
}

function wayOut(value: unknown, isRequired: boolean): string {
  if (value instanceof URL) return 'a URL is given as text: its `href`';
  return isRequired ? 'it cannot be left out' : 'leave it out for its default';
}
