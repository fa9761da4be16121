import { readFilter } from '../../../message/filter.ts';
import { readRate, readSpeed } from '../../../replay/pace.ts';
import type { SelectionOptions } from '../../../replay/selection.ts';
import { printable } from '../../../redact.ts';
import type { ExactFormat } from '../../../replay/reading/replay-entry.ts';
import type { GlobalOptions } from '../../command.ts';
import { flagError, rejectConflicts, type FlagRule } from '../../flags/flag-values.ts';
import { isContinuousIntegration } from '../../../config/files/continuous-integration.ts';
import type { Io } from '../../io.ts';
import type { PreviewFlags } from '../../flags/delivery/preview-flags.ts';
import type { WhereToFlags } from '../../flags/delivery/where-to.ts';
import { LOAD_RULES, type LoadFlags } from './load/load-flags.ts';

/** The flags of `hooks replay`, as the command-line parser returns them. */
export interface ReplayOptions extends GlobalOptions, WhereToFlags, PreviewFlags, LoadFlags {
  readonly rate?: string;
  readonly order: 'user' | 'none';
  readonly speed?: string;
  readonly timestamps: 'keep' | 'now' | 'shift';
  readonly messageIds: 'keep' | 'new';
  readonly filter?: readonly string[];
  readonly offset?: string;
  readonly limit?: string;
  readonly format?: ExactFormat;
  readonly strict?: true;
  /** Path of the tracking plan that every message must follow: a file or a folder (`--plan`). */
  readonly plan?: string;
  readonly failFast?: true;
  /** Time without a response after which the replay stops, in ms (`--give-up-after`). */
  readonly giveUpAfter?: number;
  readonly resume?: true;
  readonly again?: true;
  readonly report?: string;
  readonly failed?: string;
  /** URL of the old receiver, whose responses are compared with those of the new one. */
  readonly compare?: string;
  readonly ignore?: readonly string[];
  /** Shell command that prints the state of the new receiver. */
  readonly state?: string;
  /** Shell command that prints the state of the old receiver. */
  readonly oldState?: string;
  readonly yes?: true;
}

/** The parsed flags that select messages and set their pace. */
export interface ReplayPlan {
  readonly selection: SelectionOptions;
  readonly intervalMs: number | undefined;
  readonly speed: number | undefined;
}

/** Parses the flags. Throws ConfigError for an invalid value or an invalid combination of flags. */
export function planOf(options: ReplayOptions): ReplayPlan {
  const { filter, offset, limit, rate, speed, timestamps, messageIds } = options;
  // Leaves out `keep`, the default of --timestamps and --message-ids: it changes no message, so it does not conflict
  // with --exact.
  const changes = {
    timestamps: timestamps === 'keep' ? undefined : timestamps,
    messageIds: messageIds === 'keep' ? undefined : messageIds,
  };
  rejectConflicts({ ...options, ...changes }, FLAG_RULES);
  return {
    selection: {
      filter: filter === undefined ? undefined : readFilter(filter),
      offset: offset === undefined ? undefined : readCount(offset, '--offset'),
      limit: limit === undefined ? undefined : readCount(limit, '--limit', 1),
    },
    intervalMs: rate === undefined ? undefined : readRate(rate),
    speed: speed === undefined ? undefined : readSpeed(speed),
  };
}

/** Flags that conflict with `--compare`, which sends directly to two webhooks and does not retry. */
const EXCLUDED = [
  '--load',
  '--queue',
  '--store',
  '--endpoint',
  '--write-key',
  '--loopback',
  '--resume',
  '--again',
  '--failed',
  '--fail-fast',
  '--give-up-after',
  '--retry-for',
  '--strategy',
  '--dry-run',
  '--curl',
] as const;

const COMPARE_RULES: readonly FlagRule[] = [
  ...(['--ignore', '--state', '--old-state'] as const).map((flag): FlagRule => ({
    flag,
    needs: '--compare',
    hint: 'add --compare OLD_URL',
  })),
  { flag: '--state', needs: '--old-state', hint: 'give the command for the old receiver, too' },
  { flag: '--old-state', needs: '--state', hint: 'give the command for the new receiver, too' },
  ...EXCLUDED.map((flag): FlagRule => ({
    flag: '--compare',
    excludes: [flag],
    hint: `leave ${flag} out: --compare sends the messages to two webhooks`,
  })),
];

const FLAG_RULES: readonly FlagRule[] = [
  ...COMPARE_RULES,
  ...LOAD_RULES,
  {
    flag: '--format',
    needs: '--exact',
    hint: 'add --exact, or leave out --format: messages are recognized by their content',
  },
  {
    flag: '--exact',
    excludes: ['--timestamps', '--message-ids', '--strict'],
    hint: 'leave out one of the two: --exact sends the bytes of the file to webhooks unchanged',
  },
  {
    flag: '--exact',
    excludes: ['--plan'],
    hint: 'leave out one of the two: with --exact a body need not be a message',
  },
  {
    flag: '--give-up-after',
    excludes: ['--queue'],
    hint: 'leave out --give-up-after: hooks worker delivers the queued messages',
  },
];

/** Default of --give-up-after in continuous integration, where no person is watching. */
const CI_GIVE_UP_MS = 30_000;

/** Returns the time without a response, in ms, after which a replay gives up. Undefined if it never gives up. */
export function giveUpMs(
  { giveUpAfter, retryFor, queue }: Pick<ReplayOptions, 'giveUpAfter' | 'retryFor' | 'queue'>,
  { env }: Pick<Io, 'env'>,
): number | undefined {
  const isCi = isContinuousIntegration(env) && retryFor === undefined && queue === undefined;
  return giveUpAfter ?? (isCi ? CI_GIVE_UP_MS : undefined);
}

function readCount(text: string, flag: string, min = 0): number {
  if (/^\d{1,15}$/.test(text) && Number(text) >= min) return Number(text);
  const what = min === 0 ? 'a whole number' : `a whole number from ${min}`;
  const sentence = `Expected \`${flag}\` to be ${what}, got ${printable(text, 40)}`;
  throw flagError(flag, sentence, `give for example ${flag} 100`);
}
