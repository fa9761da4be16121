import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { JsonValue } from './types.ts';

export type MessageFilter = (message: JsonValue) => boolean;

/** `properties.plan=pro` */
export interface Condition {
  readonly path: string;
  readonly isEqual: boolean;
  readonly value: string;
}

/**
 * A filter of `--filter` flags: conditions with commas between, all of which must hold, in one flag or several.
 * `type=track`, `properties.plan=pro`, `items.0.sku!=A1`; `\,` is a comma in a value. A value equals what has that
 * text, a string or not: `total=5` takes `5` and `"5"`. What is missing equals nothing. Throws ConfigError.
 */
export function readFilter(flags: readonly string[]): MessageFilter {
  const conditions = flags.flatMap((flag) => readConditions(flag));
  return (message) => conditions.every((condition) => holds(condition, valueAt(message, condition.path)));
}

/** The conditions of one flag, whose name errors say. Throws ConfigError. */
export function readConditions(text: string, flag = '--filter'): readonly Condition[] {
  return text.split(/(?<!\\),/).map((part) => conditionOf(part.replaceAll('\\,', ','), flag));
}

function conditionOf(text: string, flag: string): Condition {
  const [, path = '', operator, value = ''] = /^\s*([^=]*?)\s*(!?=)(.*)$/s.exec(text) ?? [];
  if (path !== '' && operator !== undefined) return { path, isEqual: operator === '=', value: value.trim() };
  throw new ConfigError(
    `Expected \`${flag}\` to be path=value, got ${text === '' ? 'nothing' : printable(text, 60)}`,
    {
      key: flag.replace(/^--/, ''),
      origin: flag,
      hint: `write ${flag} 'type=track,properties.plan=pro'; != for all others; \\, for a comma in a value`,
    },
  );
}

/** A condition that does not hold, and what is there instead. */
export interface Unmet extends Condition {
  /** Undefined: nothing. */
  readonly found: JsonValue | undefined;
}

export function failing(conditions: readonly Condition[], message: JsonValue): readonly Unmet[] {
  return conditions.flatMap((condition) => {
    const found = valueAt(message, condition.path);
    return holds(condition, found) ? [] : [{ ...condition, found }];
  });
}

function holds({ isEqual, value }: Condition, found: JsonValue | undefined): boolean {
  const equals = found !== undefined && (typeof found === 'string' ? found : JSON.stringify(found)) === value;
  return equals === isEqual;
}

/** A key may itself have dots: the longest that is there wins. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
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
