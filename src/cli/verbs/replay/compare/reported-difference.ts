import { OTHER_ORDER } from '../../../../replay/compare/compare-responses.ts';
import type { DifferenceKind } from '../../../../replay/compare/difference-tally.ts';
import type { ResponseComparisonResult } from '../../../../replay/compare/response-comparison.ts';
import type { LatencyDifference } from '../../../../replay/compare/latency-comparison.ts';
import { isSecretHeader, MASK } from '../../../../redact.ts';
import type { Origin } from '../../../../replay/reading/replay-entry.ts';
import { durationText } from '../../../attempt-text.ts';
import type { StateDifference } from './state-comparison.ts';

/** The result of a comparison. */
export interface ComparisonResult extends ResponseComparisonResult {
  readonly invalid: number;
  /** Number of messages whose `integrations` exclude the destination. */
  readonly filtered: number;
  /** Undefined if the states are equal or were not compared. */
  readonly state: StateDifference | undefined;
}

/** A kind of difference as printed and reported. Its texts are escaped and contain no secrets. */
export interface ReportedDifference {
  readonly what: string;
  readonly heading: string;
  /** Lines to print below the heading, each with its label, `old` or `new`. */
  readonly examples: readonly (readonly [label: string, text: string])[];
  /** The place of the first message with this difference. Absent for latency and state. */
  readonly origin?: Origin;
  /** The difference as `-o json` prints it. */
  readonly line: object;
}

/** Describes the differences between two receivers. `masked` escapes text from a receiver and masks the secrets in it. */
export function reportedDifferences(
  { kinds, latency, state, compared }: ComparisonResult,
  masked: (text: string) => string,
): readonly ReportedDifference[] {
  return [
    ...kinds.map((kind) => responseDifference(kind, compared, masked)),
    ...latency.map((difference) => latencyDifference(difference, masked)),
    ...(state === undefined ? [] : [stateDifference(state, masked)]),
  ];
}

function responseDifference(
  { example, first, messages }: DifferenceKind,
  compared: number,
  masked: (text: string) => string,
): ReportedDifference {
  const { what } = example;
  // Does not mask `set-cookie`, because the compared text does not contain the value of the cookie.
  const isSecret = what === 'header' && example.path !== 'set-cookie' && isSecretHeader(example.path);
  const shown = (text: string): string => (isSecret && text !== 'missing' ? MASK : masked(text));
  const [path, from, to, title] = [example.path, example.from, example.to, first.title].map(masked);
  const place = `${masked(first.origin.file)}:${first.origin.line}`;
  const subject = path === '' ? what : `${what} ${path}`;
  const isOther = from === to || to === OTHER_ORDER;
  const change = isOther ? `other ${from}` : `${from} → ${to}`;
  const count = `in ${counted(messages)} of ${counted(compared)} ${compared === 1 ? 'message' : 'messages'}`;
  const [old, new_] = [shown(example.old), shown(example.new)];
  return {
    what,
    heading: `${subject}: ${change} ${count}, first ${place} (${title})`,
    examples: [
      ['old', old],
      ['new', new_],
    ],
    origin: first.origin,
    line: {
      difference: what,
      ...(path !== '' && { path }),
      from,
      to,
      messages,
      of: compared,
      first: place,
      title,
      old,
      new: new_,
    },
  };
}

function counted(count: number): string {
  return count.toLocaleString('en-US');
}

function latencyDifference(
  { title, kind, old, new: new_, fromMs = 0, slow, messages }: LatencyDifference,
  masked: (text: string) => string,
): ReportedDifference {
  const of = title === undefined ? '' : ` of ${masked(title)}`;
  const durations = `${durationText(old)} → ${durationText(new_)}`;
  const change = {
    median: `median${of} ${durations} in ${counted(messages)} messages`,
    single: `a message${of} ${durations} each time it is sent, and one receiver alone was slow in ${slow} of ${counted(messages)} messages`,
    slow: `responses slower than ${durationText(fromMs)}: ${old} → ${new_} in ${counted(messages)} messages`,
  }[kind];
  const numbers = { from: Math.round(old), to: Math.round(new_) };
  const line = {
    difference: 'latency',
    kind,
    ...numbers,
    messages,
    ...(slow && { slow }),
    ...(title && { title: masked(title) }),
  };
  const heading = `latency: ${change}`;
  return { what: 'latency', heading, examples: [], line };
}

function linesText({ length }: readonly string[]): string {
  return `${counted(length)} ${length === 1 ? 'line' : 'lines'}`;
}

/** Maximum lines of each state to show. */
const MOST_LINES = 10;

function stateDifference(
  { missing, added }: StateDifference,
  masked: (text: string) => string,
): ReportedDifference {
  const [old, new_] = [missing, added].map((lines) => lines.slice(0, MOST_LINES).map(masked));
  const counts = `${linesText(missing)} only in the old one, ${linesText(added)} only in the new one`;
  return {
    what: 'state',
    heading: `state: ${counts}`,
    examples: [
      ...(old ?? []).map((text) => ['old', text] as const),
      ...(new_ ?? []).map((text) => ['new', text] as const),
    ],
    line: { difference: 'state', missing: missing.length, added: added.length, old, new: new_ },
  };
}
