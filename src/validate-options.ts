import { isUint8Array } from 'node:util/types';
import { ConfigError } from './errors.ts';
import { closest } from './suggest.ts';

/** The kind of an option's value. `given`: the option is checked where it is read. */
type OptionKind =
  | ('a string' | 'a string or bytes' | 'a number' | 'a boolean' | 'a list' | 'an object' | 'a function')
  | ('a time in ms' | 'a port from 0 to 65,535' | 'given');

/** Kinds whose values an error may show: another number may be a secret. */
const SHOWN: readonly OptionKind[] = ['a time in ms', 'a port from 0 to 65,535'];

export interface KnownOptions {
  /** The option that holds these options, for error sentences. @default no other option holds them */
  readonly setting?: string;
  readonly kinds: Readonly<Record<string, OptionKind>>;
  readonly required?: readonly string[];
  /** Names that people write by mistake, each with the option that is meant. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/**
 * Throws ConfigError unless `options` is an object, and for options that are unknown, missing or of another kind, all at once: JavaScript may
 * pass anything, and a misspelled option must not count as left out. An option that is undefined counts as absent.
 */
export function validateOptions(options: unknown, known: KnownOptions): void {
  const { setting, kinds, required = [] } = known;
  if (!isObject(options)) throw notOptionsError(options, known);
  let problems: Problems | undefined; // most options are right, and some calls check theirs each time
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(kinds, key)) (problems ??= new Problems()).add(unknownOptionError(key, known));
  }
  for (const [key, kind] of Object.entries(kinds)) {
    const value = options[key];
    // One that is missing may be the one that is misspelled.
    const isRequired = required.includes(key) && problems === undefined;
    if (value === undefined ? !isRequired : isOfKind(kind, value)) continue;
    const name = optionName(key, setting);
    (problems ??= new Problems()).add(
      new ConfigError(
        `Expected \`${name}\` to be ${kind}, got ${SHOWN.includes(kind) && typeof value === 'number' ? value : kindOf(value)}`,
        {
          key: name,
          hint: optionHint(value, kind, required.includes(key)),
        },
      ),
    );
  }
  problems?.throwIfAny(setting ?? 'options');
}

/** The last second of eleven digits: later ones are of no clock, and more likely of another unit. */
const LATEST_MS = 1e14;

function isOfKind(kind: OptionKind, value: unknown): boolean {
  const isNumber = typeof value === 'number' && value >= 0;
  if (kind === 'a time in ms') return isNumber && value < LATEST_MS;
  if (kind === 'a port from 0 to 65,535') return isNumber && value <= 65_535 && Number.isInteger(value);
  if (kind === 'a string or bytes') return typeof value === 'string' || isUint8Array(value);
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

function optionHint(value: unknown, kind: OptionKind, isRequired: boolean): string {
  if (kind === 'a list' && typeof value === 'string' && value !== '') return 'put it into a list: [ … ]';
  if (value instanceof URL) return 'pass the URL as text: its `href`';
  return isRequired ? 'it cannot be left out' : 'leave it out to get its default';
}

/** Collects what is wrong with settings, so that all of it is reported at once. */
export class Problems {
  /** As they were thrown. */
  readonly #errors: ConfigError[] = [];

  /** What `read` gives; undefined when it throws a ConfigError, which is kept. */
  collect<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.add(error);
      return undefined;
    }
  }

  add(problem: ConfigError): void {
    this.#errors.push(problem);
  }

  /** Throws a single error as it is, and several as one error under `key`. */
  throwIfAny(key: string): void {
    const [first, ...others] = this.#errors;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const problems = this.#errors.flatMap((error) =>
      error instanceof SeveralProblems ? error.problems : [error],
    );
    const numbered = problems.map((problem, index) => `(${index + 1}) ${problemText(problem)}`);
    const count = numbered.length;
    throw new SeveralProblems(
      `Expected \`${key}\` that can be used, got ${count} faults: ${numbered.join('; ')}`,
      { key, problems },
    );
  }
}

/** Its problems become part of a larger collection one by one. */
class SeveralProblems extends ConfigError {
  readonly problems: readonly ConfigError[];

  constructor(
    message: string,
    { key, problems }: { readonly key: string; readonly problems: readonly ConfigError[] },
  ) {
    super(message, { key, hint: 'correct each of them' });
    this.problems = problems;
  }
}

/** Some sentences name neither the setting nor what it is in. */
function problemText({ key = '', message, hint }: ConfigError): string {
  const holder = key.replace(/\.[^.]*$/, '');
  const named = message.includes(holder) ? message : `${key}: ${message}`;
  return hint === undefined ? named : `${named} (${hint})`;
}

/** Names the kind of a value, as `a string`, `a list`, `an object`: enough to correct a type, without showing the value. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty string';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** The value of an option that is no secret, for an error. */
export function shownOption(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 50));
  const kind = kindOf(value);
  return kind === 'a list' || kind === 'an object' ? kind : String(value);
}

/** An object with members: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
