import type { Command } from 'commander';
import { CHECKS } from '../../../../check/checks.ts';
import { proofCodes } from '../../../../idempotence/prove.ts';
import {
  flagError,
  rejectConflicts,
  countFrom,
  given,
  timeFrom,
  type FlagRule,
} from '../../../flags/flag-values.ts';

/** `--state` and the flags that need it. Times in ms. */
export interface IdempotenceFlags {
  /** Shell command that prints the state of the receiver (`--state`). */
  readonly state?: string;
  /** Shell command that resets the state of the receiver (`--reset`). */
  readonly reset?: string;
  /** Path of the file with the messages to send instead of the samples (`--messages`). */
  readonly messages?: string;
  readonly seed?: number;
  /** Number of schedules (orders and repetitions of the messages) to try. @default 50 */
  readonly schedules?: number;
  readonly anyOrder?: true;
  /** Time from the first request of a message to its late repetition (schedule `late`), in ms. @default 10_000 */
  readonly late?: number;
  /** Time limit of the state command, in ms. @default 10_000 */
  readonly stateTimeout?: number;
}

export function addIdempotenceFlags(command: Command): Command {
  return command
    .option('--state <command>', 'compare what this shell command prints (see below)', given)
    .option('--reset <command>', "bring the receiver's state back to the start", given)
    .option('--messages <file>', 'send these messages instead of the samples', given)
    .option('--seed <number>', 'plan the same schedules again (printed by each run)', countFrom(0))
    .option('--schedules <count>', 'send the messages in this many ways (default: 50)', countFrom(1))
    .option('--any-order', "shuffle one user's messages too")
    .option('--late <duration>', 'send a message again this much later (default: 10s)', timeFrom(0))
    .option('--state-timeout <duration>', 'wait this long for the state (default: 10s)', timeFrom(1));
}

const STATE_HINT = "give a command that prints the receiver's state: --state 'sqlite3 app.db \"select …\"'";

const FLAG_RULES: readonly FlagRule[] = [
  {
    flag: '--capture',
    excludes: ['--state'],
    hint: 'give the messages as --messages FILE: captures are read too',
  },
  ...(
    ['--reset', '--messages', '--seed', '--schedules', '--any-order', '--late', '--state-timeout'] as const
  ).map((flag) => ({ flag, needs: '--state', hint: STATE_HINT }) as const),
];

/** Throws ConfigError for flags and check codes that need `--state`, or cannot be used with it. */
export function rejectStrayFlags(
  options: IdempotenceFlags & { readonly only?: readonly string[]; readonly skip?: readonly string[] },
): void {
  rejectConflicts(options, FLAG_RULES);
  const rejectCodes = options.state === undefined ? rejectScheduleCodes : rejectPlainChecks;
  rejectCodes('--only', options.only);
  rejectCodes('--skip', options.skip);
}

function rejectPlainChecks(flag: string, codes: readonly string[] = []): void {
  const code = codes.find((each) => CHECKS.some((check) => check.code === each));
  if (code === undefined) return;
  throw flagError(
    flag,
    `Expected a check of the state with ${flag}, got \`${code}\`, which runs without --state only`,
    `leave out --state to run ${code}, or choose from ${proofCodes().join(', ')}`,
  );
}

function rejectScheduleCodes(flag: string, codes: readonly string[] = []): void {
  const code = codes.find((each) => proofCodes().some((known) => known === each));
  if (code === undefined) return;
  throw flagError(flag, `\`${flag} ${code}\` is for \`--state\`, which is not given`, STATE_HINT);
}
