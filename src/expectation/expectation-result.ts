import { comparableText } from '../message/compare.ts';
import type { FilterOperator, Unmet } from '../message/filter.ts';
import type { JsonValue } from '../message/types.ts';
import { shownWriteKey } from '../redact.ts';
import { messageLabel } from '../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';

/** An expectation, and whether it was met. */
export interface ExpectationResult {
  readonly expectation:
    | 'count'
    | 'messages'
    | 'match'
    | 'no-match'
    | 'each'
    | 'size'
    | 'valid'
    | 'decided'
    | 'schema'
    | 'plan'
    | 'snapshot'
    | 'signature'
    | 'command';
  /** The filter as given, or the path of the file of schemas, of the tracking plan or of the snapshot. */
  readonly filter?: string;
  readonly isMet: boolean;
  /** Text about the expected and the received messages, not escaped for the terminal. */
  readonly said: string;
  /** The message that is closest to meeting the filter. */
  readonly nearest?: DifferingMessage;
  /** The first messages that violate the expectation. Some expectations have these instead of `nearest`. */
  readonly differing?: readonly DifferingMessage[];
}

/** A message that does not meet an expectation. */
export interface DifferingMessage {
  /** Place and kind of the message: `message 2 of request 1 (track "Signup" by u1)`. Not escaped. */
  readonly label: string;
  /** Number of the request, from 1, in the order of arrival. Undefined for messages of a snapshot. */
  readonly request?: number;
  /** Number of the message in its request, from 1. Undefined if the request has no other message. */
  readonly message?: number;
  readonly differences: readonly MessageDifference[];
}

/** Expected and actual value at a path of a message. */
export interface MessageDifference {
  readonly path: string;
  /** Expected value as text after "expected ", not escaped for the terminal. */
  readonly expected: string;
  /** The expected value for programs (JSON output). */
  readonly wanted: JsonValue;
  /** Actual value as text after "got ", not escaped for the terminal. */
  readonly got: string;
  /** The actual value for programs (JSON output). Undefined if the message has no value at the path. */
  readonly found: JsonValue | undefined;
}

/** A message with its place among the received requests. */
export interface ArrivedMessage {
  readonly message: ReceivedMessage;
  /** Number of the request, from 1, in the order of arrival. */
  readonly request: number;
  /** Whether the message is the only one in its request. */
  readonly isSole: boolean;
  /** Number of the message, from 1, among the messages in requests that got a 2xx. */
  readonly number: number;
}

/** Numbers of requests and messages that arrived. */
export interface ArrivedCount {
  readonly requests: number;
  /**
   * Number of messages in requests that got a 2xx. Messages of other requests do not count, because a sender
   * sends them again.
   */
  readonly messages: number;
  /** Messages of requests that got no 2xx. They do not count, because their sender must send them again. */
  readonly uncountedMessages: number;
  /** CORS preflights. @default 0 */
  readonly preflights?: number;
}

/** An expectation of messages, checked as they arrive. Keeps only the data that its results need. */
export interface MessageCheck {
  add(arrived: ArrivedMessage): void;
  /** Whether the expectation is not met yet, but a further message could still meet it. @default false */
  readonly isWaiting?: boolean;
  results(came: ArrivedCount): readonly ExpectationResult[];
}

/** Place of a message: `request 2`, or `message 3 of request 2` if the request has several messages. */
export function placeOfMessage({ request, isSole, message }: ArrivedMessage): string {
  return isSole ? `request ${request}` : `message ${message.index + 1} of request ${request}`;
}

/** Combines the differences of a message with a label that names its place and kind. */
export function differingMessage(
  arrived: ArrivedMessage,
  differences: readonly MessageDifference[],
): DifferingMessage {
  const { request, message, isSole } = arrived;
  const label = `${placeOfMessage(arrived)} (${messageLabel(message)})`;
  return { label, request, ...(!isSole && { message: message.index + 1 }), differences };
}

/** Masks a write key: only its last characters are shown. */
function masked(unmet: Unmet): Unmet {
  const { path, value, found } = unmet;
  if (path !== 'writeKey') return unmet;
  return { ...unmet, value: shownWriteKey(value), found: found && shownWriteKey(comparableText(found)) };
}

/** Describes how a message fails a condition of a filter. */
export function unmetDifference(unmet: Unmet): MessageDifference {
  const { path, operator, value, found } = masked(unmet);
  // Shows the types of both values, because a matcher in a test distinguishes 5 from "5", which have the same text.
  if (operator === '=' && found !== undefined && comparableText(found) === value) {
    const expected = typeof found === 'string' ? value : JSON.stringify(value);
    return { path, expected, wanted: value, got: foundValue(found), found };
  }
  const isEquality = operator === '=';
  const wanted = wantedBy(operator, value);
  return { path, ...wanted, found, got: isEquality ? foundText(found) : foundValue(found) };
}

/**
 * Describes a condition that a message meets although it must not. `count`: number of conditions that it must not meet
 * together.
 */
export function metDifference(met: Unmet, count: number): MessageDifference {
  const { path, operator, value, found } = masked(met);
  const { expected, wanted } = wantedBy(NEGATIONS[operator], value);
  const says = count === 1 ? expected : 'not all of these';
  return { path, expected: says, wanted, found, got: foundValue(found) };
}

type Wanted = Pick<MessageDifference, 'expected' | 'wanted'>;

const NEGATIONS = {
  '=': '!=',
  '!=': '=',
  '~': '!~',
  '?': '!?',
  '!?': '?',
  '>': '<=',
  '<': '>=',
  '>=': '<',
  '<=': '>',
} as const satisfies Record<FilterOperator, FilterOperator | '!~'>;

function wantedBy(operator: FilterOperator | '!~', value: string): Wanted {
  const [expected, wanted] = {
    '=': [textOrEmpty(value), value],
    '!=': [`other than ${textOrEmpty(value)}`, { not: value }],
    '~': [`a match of ${value}`, { match: value }],
    '!~': [`no match of ${value}`, { noMatch: value }],
    '?': ['something', { present: true }],
    '!?': ['nothing', { present: false }],
    '>': [`more than ${value}`, { more: value }],
    '<': [`less than ${value}`, { less: value }],
    '>=': [`at least ${value}`, { atLeast: value }],
    '<=': [`at most ${value}`, { atMost: value }],
  }[operator] as [string, JsonValue]; // TypeScript makes a union of lists of it
  return { expected, wanted };
}

function foundText(found: JsonValue | undefined): string {
  return found === undefined ? 'nothing' : textOrEmpty(comparableText(found));
}

function textOrEmpty(text: string): string {
  return text === '' ? 'an empty text' : text;
}

/** The found value as JSON, which distinguishes a string from a number; `nothing` if no value was found. */
function foundValue(found: JsonValue | undefined): string {
  return found === undefined ? 'nothing' : JSON.stringify(found);
}

/** `1 message`, `2 messages`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Number of messages that arrived, or why there are none: `5 messages`, `no request`. */
export function cameText({ requests, messages, preflights = 0 }: ArrivedCount): string {
  if (requests === 0) return preflights === 0 ? 'no request' : `only ${countText(preflights, 'preflight')}`;
  return messages === 0 ? `no message in ${countText(requests, 'request')}` : countText(messages, 'message');
}

/** Text to append to a sentence about missing messages: how many arrived but do not count. */
export function uncountedText({ uncountedMessages: count }: ArrivedCount): string {
  if (count === 0) return '';
  return `; ${countText(count, 'message')} of requests that got no 2xx ${count === 1 ? 'does' : 'do'} not count`;
}
