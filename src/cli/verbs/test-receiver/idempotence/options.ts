import type { Command } from 'commander';
import { CHECKS } from '../../../../check/checks.ts';
import { ConfigError } from '../../../../errors.ts';
import { proofCodes } from '../../../../idempotence/prove.ts';
import { countFrom, given, timeFrom } from '../../../flags/flag-values.ts';

/** The flags that go with `--state`. Times in ms. */
export interface IdempotenceFlags {
  /** A command of the shell. */
  readonly state?: string;
  /** A command of the shell. */
  readonly reset?: string;
  /** A file. */
  readonly messages?: string;
  readonly seed?: number;
  /** @default 50 */
  readonly schedules?: number;
  readonly anyOrder?: true;
  /** @default 10_000 */
  readonly late?: number;
  /** @default 10_000 */
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

/** What only makes sense with `--state`, by the flag. */
const WITH_STATE = {
  reset: '--reset',
  messages: '--messages',
  seed: '--seed',
  schedules: '--schedules',
  anyOrder: '--any-order',
  late: '--late',
  stateTimeout: '--state-timeout',
} as const satisfies Readonly<Partial<Record<keyof IdempotenceFlags, string>>>;

/** Throws ConfigError for flags that do not go together. */
export function rejectStrayFlags(
  options: IdempotenceFlags & {
    readonly capture?: readonly string[];
    readonly only?: readonly string[];
    readonly skip?: readonly string[];
  },
): void {
  if (options.state !== undefined) {
    rejectPlainChecks('--only', options.only);
    rejectPlainChecks('--skip', options.skip);
    if (options.capture === undefined) return;
    throw new ConfigError('Expected --capture without --state, got both', {
      key: '--capture',
      origin: '--capture',
      hint: 'give the messages as --messages FILE: captures are read too',
    });
  }
  const stray = Object.entries(WITH_STATE).find(
    ([key]) => options[key as keyof typeof WITH_STATE] !== undefined, // a key of it
  );
  if (stray !== undefined) throw needsState(stray[1], stray[1]);
  rejectScheduleCodes('--only', options.only);
  rejectScheduleCodes('--skip', options.skip);
}

function rejectPlainChecks(flag: string, codes: readonly string[] = []): void {
  const code = codes.find((each) => CHECKS.some((check) => check.code === each));
  if (code === undefined) return;
  throw new ConfigError(
    `Expected a check of the state with ${flag}, got \`${code}\`, which runs without --state only`,
    {
      key: flag,
      origin: flag,
      hint: `leave out --state to run ${code}, or choose from ${proofCodes().join(', ')}`,
    },
  );
}

function rejectScheduleCodes(flag: string, codes: readonly string[] = []): void {
  const code = codes.find((each) => proofCodes().some((known) => known === each));
  if (code !== undefined) throw needsState(flag, `${flag} ${code}`);
}

function needsState(flag: string, what: string): ConfigError {
  return new ConfigError(`Expected --state COMMAND with ${what}, got none`, {
    key: flag,
    origin: flag,
    hint: "say what prints the receiver's state: --state 'sqlite3 app.db \"select …\"'",
  });
}
