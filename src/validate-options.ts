import { isUint8Array } from 'node:util/types';
import { ConfigError } from './errors.ts';
import { closest } from './suggest.ts';

/** The kind of an option's value. `given` accepts any value: the option is validated where it is read. */
export type OptionKind =
  | (
      | 'a string'
      | 'a non-empty string'
      | 'a string or bytes'
      | 'a number'
      | 'a boolean'
      | 'a list'
      | 'an object'
      | 'a function'
    )
  | ('a time in ms' | 'given' | WholeNumber | Choice);

/** A whole number from `least` to `most`, both included. */
export interface WholeNumber {
  readonly least: number;
  readonly most: number;
}

export interface Choice<T extends string = string> {
  readonly choices: readonly T[];
}

/**
 * The problem of a value of the wrong kind. `expected` completes the sentence ``Expected `flushAt` …, got …``, such as `to
 * be a whole number`.
 */
export interface ValueProblem {
  readonly expected: string;
  readonly hint: string;
}

/** Hint for a problem whose sentence already lists the allowed values. */
export const FOR_DEFAULT = 'leave it out to get its default';

export interface KnownOptions {
  /** Name of the option that contains these options, for errors. @default none */
  readonly setting?: string;
  readonly kinds: Readonly<Record<string, OptionKind>>;
  readonly required?: readonly string[];
  /** Wrong names, mapped to the right options for hints. */
  readonly otherNames?: Readonly<Record<string, string>>;
}

/**
 * Validates options, because JavaScript can pass anything and a misspelled option must not count as absent. Throws one
 * ConfigError for all options that are unknown, missing or of the wrong kind, or if `options` is not an object. An undefined
 * option counts as absent.
 */
export function validateOptions(options: unknown, known: KnownOptions): void {
  const { setting, kinds, required = [] } = known;
  if (!isObject(options)) throw notOptionsError(options, known);
  let problems: Problems | undefined; // created on demand, because some calls validate options each time and most are valid
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(kinds, key)) (problems ??= new Problems()).add(unknownOptionError(key, known));
  }
  // Does not report missing options beside an unknown one, because the unknown one may be the required option, misspelled.
  const needed = problems === undefined ? required : [];
  for (const [key, kind] of Object.entries(kinds)) {
    const value = options[key];
    const isRequired = needed.includes(key);
    if (value === undefined ? !isRequired : isOfKind(kind, value)) continue;
    const problem = typeof kind === 'object' ? valueProblem(kind, value) : { expected: `to be ${kind}` };
    if (problem === undefined) continue;
    const name = optionName(key, setting);
    const hint = optionHint(value, kind, problem) ?? (required.includes(key) ? REQUIRED : FOR_DEFAULT);
    (problems ??= new Problems()).add(
      new ConfigError(`Expected \`${name}\` ${problem.expected}, got ${shownOption(value, kind)}`, {
        key: name,
        hint,
      }),
    );
  }
  problems?.throwIfAny(setting ?? 'options');
}

/** Latest accepted time: its seconds have eleven digits. Later times are more likely in another unit. */
const LATEST_MS = 1e14;

/** The problem of a value. Undefined if it is valid. */
export function valueProblem(kind: WholeNumber | Choice, value: unknown): ValueProblem | undefined {
  if ('choices' in kind) {
    const isKnown = kind.choices.some((each) => each === value);
    return isKnown ? undefined : { expected: `to be ${kind.choices.join(' or ')}`, hint: FOR_DEFAULT };
  }
  const { least, most } = kind;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    return { expected: 'to be a whole number', hint: `from ${least} to ${most}` };
  }
  const isInRange = value >= least && value <= most;
  return isInRange ? undefined : { expected: `to be from ${least} to ${most}`, hint: FOR_DEFAULT };
}

function isOfKind(kind: OptionKind, value: unknown): boolean {
  if (typeof kind === 'object') return valueProblem(kind, value) === undefined;
  if (kind === 'a time in ms') return typeof value === 'number' && value >= 0 && value < LATEST_MS;
  if (kind === 'a non-empty string') return typeof value === 'string' && value !== '';
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

const REQUIRED = 'it cannot be left out';

function optionHint(value: unknown, kind: OptionKind, { hint }: Partial<ValueProblem>): string | undefined {
  if (kind === 'a list' && typeof value === 'string' && value !== '') return 'put it into a list: [ … ]';
  return value instanceof URL ? 'pass the URL as text: its `href`' : hint;
}

/** Collects the problems of settings, so that all are reported at once. */
export class Problems {
  /** The errors in the order in which they were added. */
  readonly #errors: ConfigError[] = [];

  /** Returns the result of `read`. If it throws a ConfigError, keeps the error and returns undefined. */
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

  /** Throws if there are problems: a single error unchanged, or several errors as one error with `key`. */
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
      `Expected \`${key}\` that can be used, got ${count} problems: ${numbered.join('; ')}`,
      { key, problems },
    );
  }
}

/** One error for several problems. `Problems` that collect this error report its problems one by one. */
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

/** The sentence and the hint of a problem. Adds the key if the sentence does not name the setting. */
function problemText({ key = '', message, hint }: ConfigError): string {
  const holder = key.replace(/\.[^.]*$/, '');
  const named = message.includes(holder) ? message : `${key}: ${message}`;
  return hint === undefined ? named : `${named} (${hint})`;
}

/** Names the kind of a value, such as `a string`, `a list` or `an object`, without showing the value. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (value === '') return 'an empty string';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A value for an error. Shows only times, numbers in a range and choices, because other values may be secret. */
function shownOption(value: unknown, kind: OptionKind): string {
  const isPublic = kind === 'a time in ms' || typeof kind === 'object';
  if (isPublic && typeof value === 'number') return String(value);
  const isText = isPublic && typeof value === 'string';
  return isText ? JSON.stringify(value.slice(0, 50)) : kindOf(value);
}

/** The options without undefined values. */
export function definedOf<T extends object>(options: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof T]: Exclude<T[Key], undefined> }; // the filter removed undefined
}

/** Whether a value is an object with properties: neither null nor a list. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
