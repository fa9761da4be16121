import { ConfigError } from '../errors.ts';
import { printable, withoutWriteKeys } from '../redact.ts';
import { boundedRegExp } from './bounded-regexp.ts';
import { comparableText, comparison, type ValueTest } from './compare.ts';
import type { JsonObject, JsonValue } from './types.ts';

export type MessageFilter = (message: JsonValue) => boolean;

/** One condition of a filter, such as `properties.plan=pro`. */
export interface Condition {
  readonly path: string;
  readonly operator: FilterOperator;
  /** The text after the operator: `pro` in `plan=pro`. Empty for `?` and `!?`. */
  readonly value: string;
  readonly holds: ValueTest;
}

export type FilterOperator = keyof typeof OPERATORS;

/**
 * Makes the test of a condition from its value; undefined if the value is invalid for the operator. `=` compares as text:
 * `total=5` holds for `5` and `"5"`. A missing value never equals a value. `?` and `!?` treat null as missing.
 */
const OPERATORS = {
  '=': (value: string) => (found) => found !== undefined && comparableText(found) === value,
  '!=': (value: string) => (found) => found === undefined || comparableText(found) !== value,
  '>': (value: string) => comparison(value, (difference) => difference > 0),
  '<': (value: string) => comparison(value, (difference) => difference < 0),
  '>=': (value: string) => comparison(value, (difference) => difference >= 0),
  '<=': (value: string) => comparison(value, (difference) => difference <= 0),
  '~': (value: string) => matching(value),
  '?': (value: string) => (value === '' ? (found) => isPresent(found) : undefined),
  '!?': (value: string) => (value === '' ? (found) => !isPresent(found) : undefined),
} as const satisfies Record<string, (value: string) => ValueTest | undefined>;

/**
 * Reads `--filter` flags: comma-separated conditions, such as `type=track,properties.total>=5,items.0.sku!=A1`. All
 * conditions of all flags must hold. `\,` is a comma in a value. Throws ConfigError if a condition is invalid.
 */
export function readFilter(flags: readonly string[]): MessageFilter {
  const conditions = consistent(
    flags.flatMap((flag) => readConditions(flag)),
    '--filter',
  );
  return (message) => conditions.every((condition) => judged(condition, message).isMet);
}

/** Reads the conditions of one flag; `flag` is its name in errors. Throws ConfigError if a condition is invalid. */
export function readConditions(text: string, flag = '--filter'): readonly Condition[] {
  const [first = '', ...others] = text.split(/(?<!\\),/).map((part) => part.replaceAll('\\,', ','));
  return consistent(
    [conditionOf(first, flag), ...others.map((part) => conditionAfterComma(part, flag))],
    flag,
  );
}

/** Reads the condition after a comma. The error for another text says so: the comma can be part of a value, or mean "or". */
function conditionAfterComma(text: string, flag: string): Condition {
  if (CONDITION.test(text)) return conditionOf(text, flag);
  throw new ConfigError(
    `Expected a condition after the comma in \`${flag}\`, got ${text === '' ? 'nothing' : printable(withoutWriteKeys(text), 60)}`,
    { key: flag.replace(/^--/, ''), origin: flag, hint: COMMA_HINT },
  );
}

const COMMA_HINT =
  "a comma separates conditions: write \\, for a comma in a value, or event~'^(A|B)$' for one of several values";

/** Returns the conditions. Throws ConfigError if two need different values at the same path, which no message has. */
function consistent(conditions: readonly Condition[], flag: string): readonly Condition[] {
  const valueOf = new Map<string, string>();
  for (const { path, operator, value } of conditions) {
    if (operator !== '=' || path.includes('*')) continue;
    const other = valueOf.get(path) ?? value;
    if (other !== value) {
      const [one, two] = [other, value].map((each) => printable(withoutWriteKeys(`${path}=${each}`), 60));
      throw new ConfigError(
        `Expected one value of \`${printable(path, 60)}\` in \`${flag}\`, got ${one} and ${two}`,
        {
          key: flag.replace(/^--/, ''),
          origin: flag,
          hint: "all conditions must hold for one message: write event~'^(A|B)$' for one of several values",
        },
      );
    }
    valueOf.set(path, value);
  }
  return conditions;
}

/** A condition: path, operator, value. Longer operators come first in the alternation. */
const CONDITION = /^\s*([^=!<>~?]*?)\s*(!=|!\?|>=|<=|[=<>~?])(.*)$/s;

/**
 * Operators of other languages, which are errors in a filter. In a value, a leading `=` needs a backslash, so that `a==b` is
 * reported instead of being read as `a` equal to `=b`.
 */
const FOREIGN_OPERATOR = /^\s*[^=!<>~?]*(?:=[=~>]|<>|!~|!==|~=|![^=?])/;

function conditionOf(text: string, flag: string): Condition {
  if (FOREIGN_OPERATOR.test(text)) throw filterError(`an operator in \`${flag}\``, text, flag);
  const [, path = '', operator = '', rest = ''] = CONDITION.exec(text) ?? [];
  if (path === '' || !isOperator(operator)) throw filterError(`\`${flag}\` to be path=value`, text, flag);
  const value = rest.trim().replace(/^\\(?=[=~>])/, '');
  const holds = OPERATORS[operator](value);
  if (holds === undefined) {
    throw filterError(`${requiredValue(operator)} after \`${operator}\` in \`${flag}\``, text, flag);
  }
  return { path, operator, value, holds };
}

function isOperator(text: string): text is FilterOperator {
  return Object.hasOwn(OPERATORS, text);
}

/** Describes the values of an operator that does not accept every value. */
function requiredValue(operator: FilterOperator): string {
  if (operator === '~') return 'a regular expression';
  return operator.endsWith('?') ? 'nothing' : 'a number or a time (2026-11-20T21:10:05Z, now, now-1h)';
}

function filterError(expected: string, text: string, flag: string): ConfigError {
  return new ConfigError(
    `Expected ${expected}, got ${text === '' ? 'nothing' : printable(withoutWriteKeys(text), 60)}`,
    {
      key: flag.replace(/^--/, ''),
      origin: flag,
      hint: `write ${flag} 'type=track,properties.plan=pro'. Operators: = != > < >= <= ~REGEX ? (present) !? (absent); \\, is a comma in a value`,
    },
  );
}

/** A condition, with the value that the message has at its path. */
export interface Unmet extends Condition {
  /** The value that the message has at the path of the condition. Undefined if it has none. */
  readonly found: JsonValue | undefined;
}

/** Returns the conditions that a message does not meet. */
export function failing(conditions: readonly Condition[], message: JsonValue): readonly Unmet[] {
  return conditions.map((condition) => judged(condition, message)).filter(({ isMet }) => !isMet);
}

/** Returns all conditions, each with the value that the message has at its path. */
export function foundBy(conditions: readonly Condition[], message: JsonValue): readonly Unmet[] {
  return conditions.map((condition) => judged(condition, message));
}

/**
 * Tests a condition on a message. A path with wildcards has several values: the condition is met if one of them meets it;
 * with `!=` and `!?`, if all do. Returns the value that decided, or the first value if none did, with the path of that value
 * in place of the path with wildcards.
 */
function judged(condition: Condition, message: JsonValue): Unmet & { readonly isMet: boolean } {
  const { path, operator, holds } = condition;
  const parts = path.includes('*') ? path.split(WILDCARD) : [];
  if (parts.length < 2) {
    const found = valueAt(message, path);
    return { ...condition, found, isMet: holds(found) };
  }
  const isNegative = operator === '!=' || operator === '!?';
  const values = [...valuesAt(message, parts)];
  const decisive = values.find(([value]) => holds(value) !== isNegative);
  const [found, foundAt = path] = decisive ?? values[0] ?? [];
  return { ...condition, path: foundAt, found, isMet: (decisive === undefined) === isNegative };
}

function isPresent(found: JsonValue | undefined): boolean {
  return found !== undefined && found !== null;
}

function matching(source: string): ValueTest | undefined {
  try {
    const pattern = boundedRegExp(source);
    return (found) => found !== undefined && pattern.test(comparableText(found));
  } catch {
    return undefined;
  }
}

/** The value at a path. Keys can contain dots: the longest key that exists wins. The empty path is the message itself. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (path === '') return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, JsonValue>>; // an array has its indexes as keys
  if (Object.hasOwn(fields, path)) return fields[path];
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const key = path.slice(0, dot);
    const inner = Object.hasOwn(fields, key) ? fields[key] : undefined;
    const found = inner === undefined ? undefined : valueAt(inner, path.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** `*` matches one key or index, `**` any number of keys and indexes. */
const WILDCARD = /(?<=^|\.)(\*\*?)(?=\.|$)/;

/**
 * Maps each value at a path with wildcards to its own path. `**` at the end matches only values that are not objects or
 * arrays.
 */
function valuesAt(message: JsonValue, parts: readonly string[]): ReadonlyMap<JsonValue, string> {
  const steps = parts.map((part) => part.replaceAll(/^\.|\.$/g, '')).filter((step) => step !== '');
  let found = new Map([[message, '']]);
  for (const step of steps) {
    const next = new Map(step === '**' ? found : []);
    // For `**` the loop runs over the map that it extends. This avoids a recursion, which deep messages could overflow.
    for (const [value, path] of step === '**' ? next : found) {
      for (const [key, inner] of membersOf(value, step)) {
        if (!next.has(inner)) next.set(inner, path === '' ? key : `${path}.${key}`);
      }
    }
    found = next;
  }
  if (steps.at(-1) !== '**') return found;
  return new Map([...found].filter(([value]) => typeof value !== 'object' || value === null));
}

function membersOf(value: JsonValue, step: string): readonly (readonly [key: string, inner: JsonValue])[] {
  if (step === '*' || step === '**') {
    return typeof value === 'object' && value !== null ? Object.entries(value as JsonObject) : []; // an array has its indexes as keys
  }
  const inner = valueAt(value, step);
  return inner === undefined ? [] : [[step, inner]];
}
