import { isDeepStrictEqual } from 'node:util';
import { isObject, kindOf } from '../validate-options.ts';
import { ConfigError } from '../errors.ts';
import type { Condition } from '../message/filter.ts';
import { readExpectedMessage, type ExpectedMessage } from '../expectation/expectation.ts';
import { comparableText } from '../message/compare.ts';
import { shownWriteKey } from '../redact.ts';
import type { JsonObject, JsonValue } from '../message/types.ts';

/** A received message, including the fields that its batch gives to all messages. */
export interface SentMessage extends JsonObject {
  readonly type: string;
}

/**
 * Selects messages: a filter in the syntax of `hooks expect` (`type=track,properties.total>5`; `3x event=Signup` for exactly
 * three), an object whose values a message must have, or a function.
 */
export type MessageMatcher = string | Readonly<Record<string, unknown>> | ((message: SentMessage) => boolean);

/**
 * Converts a matcher to conditions. Throws ConfigError if the matcher is neither a valid filter, nor an object, nor a
 * function.
 */
export function readMatcher(matcher: MessageMatcher): ExpectedMessage {
  if (typeof matcher === 'string') return readExpectedMessage(matcher, 'filter');
  if (typeof matcher === 'function') {
    const text = matcher.name === '' ? 'the function' : matcher.name;
    const holds = (found: JsonValue | undefined): boolean => matcher(found as SentMessage); // the empty path yields the message
    return { text, conditions: [{ path: '', operator: '?', value: '', holds }] };
  }
  if (!isObject(matcher)) {
    const hint = "pass a filter such as 'type=track', an object with values, or a function";
    throw new ConfigError(`Expected a matcher of messages, got ${kindOf(matcher)}`, { key: 'matcher', hint });
  }
  return { text: shownMatcher(matcher), conditions: conditionsOf(matcher, []) };
}

/** Returns a condition for each value of an object at any depth. Supports asymmetric matchers (`expect.any(Number)`). */
function conditionsOf(wanted: Readonly<Record<string, unknown>>, steps: readonly string[]): Condition[] {
  return Object.entries(wanted).flatMap(([key, value]): Condition[] => {
    const within = [...steps, key];
    if (isObject(value) && !isAsymmetric(value) && Object.keys(value).length > 0) {
      return conditionsOf(value, within);
    }
    const path = within.join('.');
    const text = isAsymmetric(value) ? value.toString() : comparableText((value ?? null) as JsonValue); // JSON by its use
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

/**
 * Compares a value including its type, unlike a filter: `5` is not `'5'`. If `wanted` is undefined, the value must be
 * absent.
 */
function isLike(found: JsonValue | undefined, wanted: unknown): boolean {
  if (isAsymmetric(wanted)) return wanted.asymmetricMatch(found);
  if (typeof wanted !== 'object' || wanted === null) return Object.is(found, wanted);
  return isDeepStrictEqual(found, JSON.parse(JSON.stringify(wanted))); // converts a Date to its text
}

function shownMatcher(matcher: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(matcher, (key, value: unknown) => {
    if (key === 'writeKey' && typeof value === 'string') return shownWriteKey(value);
    return isAsymmetric(value) ? value.toString() : value;
  });
}
