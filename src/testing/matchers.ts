import { ConfigError } from '../errors.ts';
import { isObject, kindOf } from '../validate-options.ts';
import type { JsonValue } from '../message/types.ts';
import { printable } from '../redact.ts';
import { PlanCheck } from '../plan/checking/plan-check.ts';
import { planOfSchemas } from '../plan/plan.ts';
import { checkSchemas, matchMessages, type ArrivedMessage } from '../expectation/expectation.ts';
import { messageLabel } from '../receiver/messages/messages-of.ts';
import { differingMessageText, explainMessages, listMessages } from './explain-messages.ts';
import type { TrackingPlan } from '../app/load-plan.ts';
import { readMatcher, type MessageMatcher } from './message-matcher.ts';
import { arrivedAt, type TestReceiver } from './test-receiver.ts';

/** The result of a matcher for `expect.extend` of Vitest, Jest and Playwright. */
export interface MatcherResult {
  readonly pass: boolean;
  readonly message: () => string;
}

/**
 * Passes if the receiver received a matching message, or with `3x …` exactly three. A message over 32 KB does not suffice,
 * because a tracking API drops it. With `.not`, a message over 32 KB counts as received, because it was sent.
 */
function toHaveReceived(this: unknown, receiver: unknown, matcher: MessageMatcher): MatcherResult {
  const arrived = arrivedAt(receiver);
  const read = readMatcher(matcher);
  const { taken } = matchMessages(arrived, read.conditions);
  const isNot = isObject(this) && this['isNot'] === true;
  if (read.exactly === undefined && !isNot && taken.length > 0 && taken.every(isTooLarge)) {
    return { pass: false, message: () => droppedText(read.text, taken) };
  }
  const unread = unreadText(receiver);
  if (isNot && taken.length === 0 && unread !== undefined) return { pass: true, message: () => unread };
  const pass = read.exactly === undefined ? taken.length > 0 : taken.length === read.exactly;
  const message = (): string => {
    if (!pass) return explainMessages(arrived, read);
    const wanted = `Expected no message with ${printable(read.text, 200)}`;
    return [`${wanted}, got ${taken.length}:`, ...listMessages(taken)].join('\n');
  };
  return { pass, message };
}

function isTooLarge({ message }: ArrivedMessage): boolean {
  return message.rejection?.code === 'too-large';
}

function droppedText(filter: string, taken: readonly ArrivedMessage[]): string {
  const wanted = `Expected a message with ${printable(filter, 200)} that a tracking API takes`;
  const dropped = taken.map(({ message, number }) => {
    return `  ${number}. ${printable(messageLabel(message), 200)}: ${message.rejection?.message}`;
  });
  return [`${wanted}, got one that it drops:`, ...dropped.slice(0, 1)].join('\n');
}

/** Passes if the receiver received matching messages in this order, possibly with other messages between them. */
function toHaveReceivedInOrder(receiver: unknown, wanted: readonly MessageMatcher[]): MatcherResult {
  const arrived = arrivedAt(receiver);
  const matchers = wanted.map(readMatcher);
  let next = 0;
  for (const each of arrived) {
    const read = matchers[next];
    if (read !== undefined && matchMessages([each], read.conditions).taken.length > 0) next += 1;
  }
  const pass = next === matchers.length;
  const names = matchers.map(({ text }) => printable(text, 200));
  const message = (): string =>
    [
      `Expected messages ${pass ? 'not ' : ''}in the order ${names.join(' → ')}`,
      ...(pass
        ? []
        : [`${names[next]} is missing after ${next === 0 ? 'the start' : names[next - 1]}. Received:`]),
      ...listMessages(arrived),
    ].join('\n');
  return { pass, message };
}

/**
 * Passes if a message, a list of messages or all messages of a receiver match a JSON Schema (draft 07 or 2020-12): one
 * schema for all, or an object with a schema per event name, like `hooks expect --schema`.
 */
function toMatchSchema(received: unknown, schema: object): MatcherResult {
  const plan = new PlanCheck(planOfSchemas(schema as JsonValue, 'the schema')); // JSON by its use
  return resultOf(received, plan, { all: 'match a schema', one: 'match the schema' });
}

/** Passes if a message, a list of messages or all messages of a receiver follow a tracking plan of `loadPlan`. */
function toFollowPlan(received: unknown, plan: TrackingPlan): MatcherResult {
  if (!isObject(plan) || typeof plan['violations'] !== 'function') {
    const hint = "pass a loaded plan: toFollowPlan(await loadPlan('plan.json'))";
    throw new ConfigError(`Expected a plan of loadPlan, got ${kindOf(plan)}`, { key: 'plan', hint });
  }
  const other = messagesIn(received).find(
    ({ message: { value } }) => !isObject(value) || typeof value['type'] !== 'string',
  );
  if (other !== undefined) {
    const hint = 'pass a message, a list of messages or a receiver: expect(receiver).toFollowPlan(plan)';
    const got = (JSON.stringify(other.message.value) as string | undefined) ?? 'undefined'; // undefined for a function
    throw new ConfigError(`Expected a message with its type, got ${printable(got, 80)}`, {
      key: 'message',
      hint,
    });
  }
  return resultOf(received, plan, { all: 'follow the plan', one: 'follow the plan' });
}

/** Checks all messages. `all` and `one` are the verb phrases about several messages and about one. */
function resultOf(
  received: unknown,
  plan: TrackingPlan,
  { all, one }: { readonly all: string; readonly one: string },
): MatcherResult {
  const arrived = messagesIn(received);
  const check = checkSchemas(({ value }) => plan.violations(value), 'the plan');
  for (const each of arrived) check.add(each);
  const count = { requests: 1, messages: arrived.length, uncountedMessages: 0 };
  const differing = check.results(count).flatMap((each) => each.differing ?? []);
  const unread = isReceiver(received) ? unreadText(received) : undefined;
  const pass = differing.length === 0 && arrived.length > 0 && unread === undefined;
  const message = (): string => {
    if (differing.length === 0 && unread !== undefined) return unread;
    if (arrived.length === 0) return `Expected messages that ${all}, got no message`;
    if (pass) {
      return `Expected a message that does not ${one}, got ${messageLabel(arrived[0]?.message ?? { index: 0, value: null })}`;
    }
    return differing.flatMap((each) => differingMessageText(each, `does not ${one}`)).join('\n');
  };
  return { pass, message };
}

/** The matchers for `expect.extend(matchers)`. */
export const matchers = { toHaveReceived, toHaveReceivedInOrder, toMatchSchema, toFollowPlan } as const;

/** The matchers as methods of `expect(receiver)`. `R` is their result: void, or a promise after `resolves`. */
export interface HooksMatchers<R = void> {
  /** Passes if the receiver received a matching message, or with `3x …` exactly three. */
  toHaveReceived(matcher: MessageMatcher): R;
  /** Passes if the receiver received matching messages in this order, possibly with other messages between them. */
  toHaveReceivedInOrder(wanted: readonly MessageMatcher[]): R;
  /** Passes if every message matches a JSON Schema: one schema for all, or an object with a schema per event name. */
  toMatchSchema(schema: object): R;
  /** Passes if every message follows a tracking plan: `toFollowPlan(await loadPlan('plan.json'))`. */
  toFollowPlan(plan: TrackingPlan): R;
}

declare global {
  namespace jest {
    /** The methods of `expect` in @types/jest, and in Vitest, which includes this interface for libraries of Jest. */
    interface Matchers<R, T = {}> extends HooksMatchers<R> {}
  }
}

function messagesIn(received: unknown): readonly ArrivedMessage[] {
  if (isReceiver(received)) return arrivedAt(received);
  const values = (Array.isArray(received) ? received : [received]) as readonly JsonValue[]; // JSON by its use
  return values.map((value, index) => {
    return { message: { index, value }, request: 1, isSole: values.length === 1, number: index + 1 };
  });
}

/**
 * Returns a sentence about the first request that could not be read: the failure text of a matcher that finds no unwanted
 * message, because that request may contain one. Undefined if all requests could be read.
 */
function unreadText(receiver: unknown): string | undefined {
  const rejections = (receiver as TestReceiver).rejections(); // `arrivedAt` has checked it
  const unread = rejections.find(({ message }) => message === undefined);
  return unread && `Expected every request to be readable, got one that is not: ${printable(unread.reason)}`;
}

function isReceiver(received: unknown): boolean {
  return isObject(received) && typeof received['waitFor'] === 'function';
}
