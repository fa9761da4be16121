import { comparableText } from '../message/compare.ts';
import type { FilterOperator, Unmet } from '../message/filter.ts';
import type { JsonValue } from '../message/types.ts';
import { shownWriteKey } from '../redact.ts';
import { messageLabel } from '../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';

/** One expectation, and whether it was met. */
export interface ExpectationResult {
  readonly expectation:
    | 'count'
    | 'messages'
    | 'match'
    | 'no-match'
    | 'each'
    | 'in-order'
    | 'size'
    | 'valid'
    | 'decided'
    | 'schema'
    | 'snapshot'
    | 'signature'
    | 'command';
  /** The filter as given, or the file. */
  readonly filter?: string;
  readonly isMet: boolean;
  /** A sentence with what was expected and what came, unescaped. */
  readonly said: string;
  /** The message that misses the filter by the least. */
  readonly nearest?: DifferingMessage;
  /** Messages that do not meet it, the first of them; they take the place of `nearest`. */
  readonly differing?: readonly DifferingMessage[];
}

/** A message that does not meet an expectation. */
export interface DifferingMessage {
  /** Where it is, and what: `message 2 of request 1 (track "Signup" by u1)`. Unescaped. */
  readonly label: string;
  /** Counted from 1, in the order of arrival. Undefined: no message of a request, but one that is missing. */
  readonly request?: number;
  /** In its request, counted from 1. */
  readonly message?: number;
  readonly differences: readonly MessageDifference[];
}

/** What a message should have at a path, and what it has. */
export interface MessageDifference {
  readonly path: string;
  /** Continues "expected …". Unescaped. */
  readonly expected: string;
  /** The same for a program. */
  readonly wanted: JsonValue;
  /** Continues "got …". Unescaped. */
  readonly got: string;
  /** The same for a program; undefined: nothing. */
  readonly found: JsonValue | undefined;
}

export interface ArrivedMessage {
  readonly message: ReceivedMessage;
  /** The number of its request, from 1, in the order of arrival. */
  readonly request: number;
  /** Whether its request has no other. */
  readonly isSole: boolean;
  /** Its number among all messages, from 1. */
  readonly number: number;
}

/** What came so far. */
export interface ArrivedCount {
  readonly requests: number;
  /** Those that count. */
  readonly messages: number;
  /** Those of requests that got no 2xx: they do not count, since their sender has to send them again. */
  readonly refusedMessages: number;
  /** By which browsers asked whether they may send. @default 0 */
  readonly preflights?: number;
}

/** An expectation of messages, judged as they arrive. Keeps only what its findings need. */
export interface MessageCheck {
  add(arrived: ArrivedMessage): void;
  /** Whether a further message could meet what is not met. */
  readonly isWaiting: boolean;
  findings(came: ArrivedCount): readonly ExpectationResult[];
}

/** `request 2`, or `message 3 of request 2` where it has several. */
export function placeOfMessage({ request, isSole, message }: ArrivedMessage): string {
  return isSole ? `request ${request}` : `message ${message.index + 1} of request ${request}`;
}

/** A message with what differs in it. */
export function differingMessage(
  arrived: ArrivedMessage,
  differences: readonly MessageDifference[],
): DifferingMessage {
  const { request, message, isSole } = arrived;
  const label = `${placeOfMessage(arrived)} (${messageLabel(message)})`;
  return { label, request, ...(!isSole && { message: message.index + 1 }), differences };
}

/** A write key is compared in full, and shown by its last characters. */
function shown(unmet: Unmet): Unmet {
  const { path, value, found } = unmet;
  if (path !== 'writeKey') return unmet;
  return { ...unmet, value: shownWriteKey(value), found: found && shownWriteKey(comparableText(found)) };
}

/** A condition of a filter that does not hold. */
export function unmetDifference(unmet: Unmet): MessageDifference {
  const { path, operator, value, found } = shown(unmet);
  // The matcher of a program tells 5 from "5", which read alike as texts.
  if (operator === '=' && found !== undefined && comparableText(found) === value) {
    const expected = typeof found === 'string' ? value : JSON.stringify(value);
    return { path, expected, wanted: value, got: foundValue(found), found };
  }
  const isEquality = operator === '=';
  const wanted = wantedBy(operator, value);
  return { path, ...wanted, found, got: isEquality ? foundText(found) : foundValue(found) };
}

/** A condition that holds and should not. */
export function metDifference(met: Unmet): MessageDifference {
  const { path, operator, value, found } = shown(met);
  return { path, ...wantedBy(NEGATIONS[operator], value), found, got: foundValue(found) };
}

/** One of several conditions that hold, of which one should not. */
export function oneOfMetDifferences(met: Unmet): MessageDifference {
  const { path, operator, value, found } = shown(met);
  const { wanted } = wantedBy(NEGATIONS[operator], value);
  return { path, expected: 'not all of these', wanted, found, got: foundValue(found) };
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

/** A found value as JSON, so that a text is told from a number. */
export function foundValue(found: JsonValue | undefined): string {
  return found === undefined ? 'nothing' : JSON.stringify(found);
}

/** `1 message`, `2 messages`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** How many messages came, or why there are none: `5 messages`, `no request`. */
export function cameText({ requests, messages, preflights = 0 }: ArrivedCount): string {
  if (requests === 0) return preflights === 0 ? 'no request' : `only ${countText(preflights, 'preflight')}`;
  return messages === 0 ? `no message in ${countText(requests, 'request')}` : countText(messages, 'message');
}

/** Continues a sentence about what is missing: messages came that do not count. */
export function refusedText({ refusedMessages: count }: ArrivedCount): string {
  if (count === 0) return '';
  return `; ${countText(count, 'message')} of requests that got no 2xx ${count === 1 ? 'does' : 'do'} not count`;
}
