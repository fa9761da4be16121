import { ConfigError, InputError } from '../errors.ts';
import { readConditions, type Condition } from '../message/filter.ts';
import type { JsonValue } from '../message/types.ts';
import { printable, withoutWriteKeys } from '../redact.ts';
import { ArrivalCheck, type ExpectedArrivals } from './arrivals.ts';
import type { ExpectedMessage } from './expected-message.ts';
import type { ArrivedMessage, DifferingMessage, MessageCheck } from './finding.ts';
import { NearestMessage } from './nearest.ts';
import { Expectation, type ExpectationOptions } from './request-expectation.ts';
import { SnapshotCheck } from './snapshot-check.ts';
import type { SnapshotUser } from './snapshot.ts';
import { parseSnapshot } from './snapshot-text.ts';

export type { ArrivalCheck, ExpectedArrivals } from './arrivals.ts';
export type { ExpectedMessage } from './expected-message.ts';
export type { ArrivedMessage, DifferingMessage, ExpectationResult, MessageCheck } from './finding.ts';
export type { Expectation, Tally } from './request-expectation.ts';
export type { SnapshotCheck } from './snapshot-check.ts';
export type { SnapshotUser } from './snapshot.ts';

/** Starts to count requests, and the time in which they must come. */
export function expectRequests(options: ExpectationOptions): Expectation {
  return new Expectation(options);
}

/** Makes the check of what a program sends. */
export function checkArrivals(expected: ExpectedArrivals): ArrivalCheck {
  return new ArrivalCheck(expected);
}

/** Reads a filter, with `3x ` before it for exactly three messages. Throws ConfigError, which calls it `flag`. */
export function readExpectedMessage(given: string, flag: string): ExpectedMessage {
  const text = withoutWriteKeys(given);
  const [, times, space, filter = ''] = /^\s*(\d{1,9})x(\s*)([^\s=!<>~?.].*)$/s.exec(given) ?? [];
  if (times === undefined) return { text, conditions: readConditions(given, flag) };
  if (space === '') {
    throw new ConfigError(`Expected a space after \`${times}x\` in \`${flag}\`, got ${printable(text, 60)}`, {
      key: flag.replace(/^--/, ''),
      origin: flag,
      hint: `write ${flag} '${times}x ${printable(withoutWriteKeys(filter), 60)}'`,
    });
  }
  return { text, conditions: readConditions(filter, flag), exactly: Number(times) };
}

/** Finds the messages that meet all conditions; `nearest` finds, among the others, the message that misses the conditions by the least. */
export function matchMessages(arrived: readonly ArrivedMessage[], conditions: readonly Condition[]) {
  const kept = new NearestMessage(conditions);
  const taken = arrived.filter((each) => kept.takes(each));
  return { taken, nearest: (): DifferingMessage | undefined => kept.nearest };
}

/** Makes the check of schemas. Loads the validator. Throws InputError for a schema that does not compile. */
export async function checkSchemas(schemas: JsonValue, file: string): Promise<MessageCheck> {
  const { MessageSchemas, SchemaCheck } = await import('./schema/schema-check.ts');
  return new SchemaCheck(new MessageSchemas(schemas, file), file);
}

/** Makes the check of a snapshot, which compares or writes when all messages have come. */
export function checkSnapshot(): SnapshotCheck {
  return new SnapshotCheck();
}

/** Reads a snapshot. Throws InputError for a text that is none; a damaged snapshot that is to be replaced has no messages. */
export function readSnapshot(
  text: string,
  { file, isReplaced }: { readonly file: string; readonly isReplaced: boolean },
): readonly SnapshotUser[] {
  const reading = parseSnapshot(text);
  if (reading.ok) return reading.users;
  if (isReplaced && reading.isDamaged) return [];
  const { expected, line, hint } = reading;
  throw new InputError(`Expected ${expected}`, { file, line, hint });
}
