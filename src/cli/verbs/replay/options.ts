import { ConfigError } from '../../../errors.ts';
import { readFilter } from '../../../message/filter.ts';
import { readRate, readSpeed } from '../../../replay/pace.ts';
import type { SelectionOptions } from '../../../replay/selection.ts';
import { printable } from '../../../redact.ts';
import type { ExactFormat } from '../../../replay/reading/replay-entry.ts';
import type { GlobalOptions } from '../../command.ts';
import { rejectConflicts, type FlagRule } from '../../flags/flag-values.ts';
import { isContinuousIntegration } from '../../../config/files/continuous-integration.ts';
import type { Io } from '../../io.ts';
import type { PreviewFlags } from '../../flags/delivery/preview-flags.ts';
import type { WhereToFlags } from '../../flags/delivery/where-to.ts';

/** The flags of `hooks replay`, as typed. */
export interface ReplayOptions extends GlobalOptions, WhereToFlags, PreviewFlags {
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
  readonly failFast?: true;
  /** Ms. */
  readonly giveUpAfter?: number;
  readonly resume?: true;
  readonly again?: true;
  readonly report?: string;
  readonly failed?: string;
}

/** The flags that are parsed before anything is sent. */
export interface ReplayPlan {
  readonly selection: SelectionOptions;
  readonly intervalMs: number | undefined;
  readonly speed: number | undefined;
}

/** Throws ConfigError for a flag that cannot be used. */
export function planOf(options: ReplayOptions): ReplayPlan {
  const { filter, offset, limit, rate, speed, timestamps, messageIds } = options;
  // These two have a default, which changes nothing of a message.
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

const FLAG_RULES: readonly FlagRule[] = [
  {
    flag: '--format',
    needs: '--exact',
    hint: 'add --exact, or leave --format out: messages are recognized by their content',
  },
  {
    flag: '--exact',
    excludes: ['--timestamps', '--message-ids', '--strict'],
    hint: 'leave one of the two out: --exact sends the bytes of the file to webhooks as they are',
  },
  {
    flag: '--give-up-after',
    excludes: ['--queue'],
    hint: 'leave --give-up-after out: what is queued is delivered by hooks worker',
  },
];

/** How long no response may come in continuous integration, where no person watches. */
const CI_GIVE_UP_MS = 30_000;

/** After how many ms without a response a replay gives up; undefined for never. */
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
  throw new ConfigError(`Expected \`${flag}\` to be ${what}, got ${printable(text, 40)}`, {
    flag,
    hint: `give for example ${flag} 100`,
  });
}
