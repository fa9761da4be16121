import {
  readExpectedMessage,
  type ExpectedArrivals,
  type ExpectedMessage,
} from '../../../expectation/expectation.ts';
import { printable } from '../../../redact.ts';
import type { GlobalOptions } from '../../command.ts';
import type { SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';
import { flagError, rejectConflicts, type FlagRule } from '../../flags/flag-values.ts';

export interface ExpectOptions extends GlobalOptions, SecretFlags, SchemeFlags {
  readonly count?: number;
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly messages?: number;
  readonly match?: readonly string[];
  readonly noMatch?: readonly string[];
  readonly each?: readonly string[];
  readonly inOrder?: true;
  /** Path of the JSON Schema that every message must match (`--schema`). */
  readonly schema?: string;
  /** Path of the tracking plan, a file or a folder, that every message must follow (`--plan`). */
  readonly plan?: string;
  /** Path of the file to compare all messages with (`--snapshot`). */
  readonly snapshot?: string;
  readonly update?: true;
  /** Time limit for the started command and the expected requests, in ms (`--within`). */
  readonly within: number;
  /** How long, in ms, to wait for more requests after the command has ended and no connection is open (`--linger`). */
  readonly linger: number;
  readonly respond?: string;
  readonly selfSigned?: true;
  /** Path of the report to write (`--report`). */
  readonly report?: string;
}

/** Reads the expectations of the flags. Throws ConfigError if there are none, or if they contradict each other. */
export function expectedOf(options: ExpectOptions): Omit<ExpectedArrivals, 'signed' | 'checks'> {
  rejectContradictions(options);
  const { messages, match = [], noMatch = [], each = [], inOrder = false } = options;
  const { atLeast, atMost, someMessage } = requestsOf(options);
  const matches = match.map((text) => readExpectedMessage(text, '--match'));
  rejectMatches(matches, { inOrder, room: atMost === 0 ? 0 : (messages ?? Infinity) });
  return {
    atLeast,
    atMost,
    messages,
    someMessage,
    matches,
    inOrder,
    noMatches: noMatch.map((text) => uncountedMessage(text, '--no-match')),
    each: each.map((text) => uncountedMessage(text, '--each')),
  };
}

/**
 * Returns the bounds of the number of requests. An expectation about every message raises the lower bound to 1, because it
 * would hold for no message.
 */
function requestsOf(options: ExpectOptions): Pick<ExpectedArrivals, 'atLeast' | 'atMost' | 'someMessage'> {
  const { count, atLeast, atMost, messages, each, noMatch, schema, plan, snapshot } = options;
  const isBounded = (count ?? atMost ?? messages) !== undefined;
  const holdsForAll = (each ?? noMatch ?? schema ?? plan ?? snapshot) !== undefined;
  return {
    atLeast: count ?? atLeast ?? (holdsForAll && !isBounded ? 1 : 0),
    atMost: count ?? atMost ?? Infinity,
    someMessage: holdsForAll && !isBounded,
  };
}

function rejectMatches(
  matches: readonly ExpectedMessage[],
  { inOrder, room }: { readonly inOrder: boolean; readonly room: number },
): void {
  const wanted = matches.filter(({ exactly }) => exactly === undefined).length;
  const counted = matches.find(({ exactly }) => exactly !== undefined);
  if (inOrder && counted !== undefined) {
    const hint = `write the filter once for each message, without its ${counted.exactly}x`;
    throw flagError(
      '--in-order',
      `\`--in-order\` and \`--match '${counted.text}'\` cannot be given together`,
      hint,
    );
  }
  if (wanted > room) {
    const hint =
      'give fewer --match, because each needs its own message, or --each, which is for every message';
    throw flagError('--match', `${wanted} times \`--match\` cannot be met by ${room}`, hint);
  }
  if (inOrder && wanted < 2) {
    throw flagError('--in-order', '`--in-order` is for several `--match`', 'give two --match or more');
  }
}

const FLAG_RULES: readonly FlagRule[] = [
  { flag: '--count', excludes: ['--at-least', '--at-most'], hint: 'leave one out' },
  { flag: '--update', needs: '--snapshot', hint: 'add --snapshot FILE' },
];

function rejectContradictions(options: ExpectOptions): void {
  const { count, atLeast, atMost, messages, match, noMatch, each } = options;
  const ofFile = options.schema ?? options.plan ?? options.snapshot;
  const some = count ?? atLeast ?? atMost ?? messages ?? match ?? noMatch ?? each ?? ofFile;
  if (some === undefined) {
    throw flagError(
      '--count',
      'Nothing is expected',
      'give --count N or --messages N, or --match type=track',
    );
  }
  rejectConflicts(options, FLAG_RULES);
  if ((atLeast ?? 0) > (atMost ?? Infinity)) {
    throw flagError('--at-least', '`--at-least` is more than `--at-most`', 'lower it, or raise --at-most');
  }
}

/** Reads a filter of --each or --no-match. Throws ConfigError for a count such as `3x`. */
function uncountedMessage(text: string, flag: string): ExpectedMessage {
  const expected = readExpectedMessage(text, flag);
  if (expected.exactly === undefined) return expected;
  const hint = `leave out ${expected.exactly}x, or write --match '${expected.text}'`;
  throw flagError(flag, `\`${flag}\` takes no count, got ${printable(expected.text, 60)}`, hint);
}
