import { isObject, kindOf } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import type { Condition } from '../message/filter.ts';
import { readExpectedMessage, type ExpectedMessage } from '../expectation/expectation.ts';
import { comparableText } from '../message/compare.ts';
import { shownWriteKey } from '../redact.ts';
import type { JsonObject, JsonValue } from '../message/types.ts';

/** A message as it was sent, with what its batch says once. */
export interface SentMessage extends JsonObject {
  readonly type: string;
}

/**
 * Which messages are meant: a filter as of `hooks expect` (`type=track,properties.total>5`; `3x event=Signup` for exactly three), an
 * object whose values a message must have, or a function.
 */
export type MessageMatcher = string | Readonly<Record<string, unknown>> | ((message: SentMessage) => boolean);

/** Throws ConfigError for a filter that cannot be read. */
export function readMatcher(matcher: MessageMatcher): ExpectedMessage {
  if (typeof matcher === 'string') return readExpectedMessage(matcher, 'filter');
  if (typeof matcher === 'function') {
    const text = matcher.name === '' ? 'the function' : matcher.name;
    const holds = (found: JsonValue | undefined): boolean => matcher(found as SentMessage); // the empty path finds the message
    return { text, conditions: [{ path: '', operator: '?', value: '', holds }] };
  }
  if (!isObject(matcher)) {
    const hint = "give a filter as 'type=track', an object with values, or a function";
    throw new ConfigError(`Expected a matcher of messages, got ${kindOf(matcher)}`, { key: 'matcher', hint });
  }
  return { text: shownMatcher(matcher), conditions: conditionsOf(matcher, []) };
}

/** A condition for each value of an object, however deep. An asymmetric matcher (`expect.any(Number)`) is asked. */
function conditionsOf(wanted: Readonly<Record<string, unknown>>, steps: readonly string[]): Condition[] {
  return Object.entries(wanted).flatMap(([key, value]): Condition[] => {
    const within = [...steps, key];
    if (isObject(value) && !isAsymmetric(value) && Object.keys(value).length > 0) {
      return conditionsOf(value, within);
    }
    const path = within.join('.');
    const text = isAsymmetric(value) ? value.toString() : comparableText((value ?? null) as JsonValue); // as given by a caller
    return [{ path, operator: '=', value: text, holds: (found) => isLike(found, value) }];
  });
}

interface Asymmetric {
  readonly asymmetricMatch: (value: unknown) => boolean;
  readonly toString: () => string;
}

function isAsymmetric(value: unknown): value is Asymmetric {
  return (
    typeof value === 'object' &&
    value !== null &&
    'asymmetricMatch' in value &&
    typeof value.asymmetricMatch === 'function'
  );
}

/** Exact in type, unlike a filter's text: `5` is not `'5'`. Undefined: it must not be there. */
function isLike(found: JsonValue | undefined, wanted: unknown): boolean {
  if (isAsymmetric(wanted)) return wanted.asymmetricMatch(found);
  if (typeof wanted !== 'object' || wanted === null) return Object.is(found, wanted);
  const plain = JSON.parse(JSON.stringify(wanted)) as unknown; // a Date as its text
  return isSame(found, plain);
}

function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return Object.is(one, other);
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => Object.hasOwn(other, key) && isSame(one[key], other[key]))
  );
}

function shownMatcher(matcher: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(matcher, (key, value: unknown) => {
    if (key === 'writeKey' && typeof value === 'string') return shownWriteKey(value);
    return isAsymmetric(value) ? value.toString() : value;
  });
}
