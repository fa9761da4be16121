import { ConfigError } from '../errors.ts';
import { readConditions, type Condition } from '../message/filter.ts';
import { printable, withoutWriteKeys } from '../redact.ts';
import { ArrivalCheck, type ExpectedArrivals } from './arrivals.ts';
import type { ExpectedMessage } from './expected-message.ts';
import type { ArrivedMessage, DifferingMessage, MessageCheck } from './expectation-result.ts';
import { NearestMessage } from './nearest.ts';
import { SchemaCheck, type Differences } from './schema-check.ts';
import { Expectation, type ExpectationOptions } from './request-expectation.ts';
import { SnapshotCheck } from './snapshot-check.ts';
import type { SnapshotUser } from './snapshot.ts';
import { parseSnapshot, type SnapshotSource } from './snapshot-text.ts';

export type { ArrivalCheck, ExpectedArrivals } from './arrivals.ts';
export type { ExpectedMessage } from './expected-message.ts';
export type {
  ArrivedMessage,
  DifferingMessage,
  ExpectationResult,
  MessageCheck,
} from './expectation-result.ts';
export type { Expectation, Tally } from './request-expectation.ts';
export type { SnapshotCheck } from './snapshot-check.ts';
export type { SnapshotUser } from './snapshot.ts';

/** Starts to count received requests and to measure the time limits of the options. */
export function expectRequests(options: ExpectationOptions): Expectation {
  return new Expectation(options);
}

/** Creates the check of the requests and messages that a program sends. */
export function checkArrivals(expected: ExpectedArrivals): ArrivalCheck {
  return new ArrivalCheck(expected);
}

/** Parses a filter; a prefix `3x ` means exactly three messages. Throws ConfigError, which names the option `flag`. */
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

/**
 * Finds the messages that meet all conditions. `nearest` returns the one of the other messages that comes closest to meeting
 * them.
 */
export function matchMessages(arrived: readonly ArrivedMessage[], conditions: readonly Condition[]) {
  const kept = new NearestMessage(conditions);
  const taken = arrived.filter((each) => kept.takes(each));
  return { taken, nearest: (): DifferingMessage | undefined => kept.nearest };
}

/** Creates the check that no message differs from its schema, or from its rule in a tracking plan. `file` names them. */
export function checkSchemas(
  differences: Differences,
  file: string,
  expectation: 'schema' | 'plan' = 'schema',
): MessageCheck {
  return new SchemaCheck(differences, { expectation, filter: file });
}

/** Creates the check of a snapshot, which compares or writes it at the end. */
export function checkSnapshot(): SnapshotCheck {
  return new SnapshotCheck();
}

/**
 * Parses a snapshot. Throws InputError if the text is not a snapshot. A damaged snapshot that will be replaced counts as
 * empty.
 */
export function readSnapshot(text: string, source: SnapshotSource): readonly SnapshotUser[] {
  return parseSnapshot(text, source);
}
