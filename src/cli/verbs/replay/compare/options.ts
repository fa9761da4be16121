import type { Command } from 'commander';
import type { DestinationOptions } from '../../../../engine/options.ts';
import { ConfigError } from '../../../../errors.ts';
import {
  collectGiven,
  flagError,
  given,
  rejectConflicts,
  type FlagRule,
} from '../../../flags/flag-values.ts';
import { destinationsOf, type WhereTo } from '../../../flags/delivery/where-to.ts';
import { expandUrl } from '../../../flags/short-url.ts';
import type { ReplayOptions } from '../options.ts';

/** `--compare` and the flags that need it. */
export interface CompareFlags {
  /** URL of the old receiver. */
  readonly compare?: string;
  readonly ignore?: readonly string[];
  /** Shell command that prints the state of the new receiver. */
  readonly state?: string;
  /** Shell command that prints the state of the old receiver. */
  readonly oldState?: string;
  readonly yes?: true;
}

/** The options of `hooks replay --compare`. */
export type CompareOptions = ReplayOptions & CompareFlags & { readonly compare: string };

export function addCompareFlags(command: Command): Command {
  return command
    .optionsGroup('Compare with another receiver:')
    .option('--compare <url>', 'send to this old receiver too, and compare responses', (url) =>
      expandUrl(given(url)),
    )
    .option('--ignore <path>', "ignore '$.items[*].id' or 'header etag' (repeat)", collectGiven)
    .option('--state <command>', 'compare what this shell command prints at the end', given)
    .option('--old-state <command>', 'print the state of the old receiver', given)
    .option('--yes', 'send to public hosts without asking');
}

/** Flags of a replay that retries, queues, resumes or previews, or sends to something else than a webhook. */
const EXCLUDED = [
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
    hint: `leave ${flag} out: --compare sends each message once to two webhooks`,
  })),
];

/** Throws ConfigError for flags that need --compare, and for those that cannot be used with it. */
export function rejectCompareConflicts(options: ReplayOptions & CompareFlags): void {
  rejectConflicts(options, COMPARE_RULES);
}

/** Returns the destination of the new receiver. Throws ConfigError unless it has exactly one webhook. */
export function newReceiverOf(to: WhereTo): {
  readonly name: string;
  readonly destination: DestinationOptions;
} {
  const sources = to.kind === 'webhooks' ? to.sources : {};
  const enabled = destinationsOf(sources).filter(({ enabled: isEnabled }) => isEnabled);
  const count = enabled.reduce((sum, { webhooks }) => sum + webhooks.length, 0);
  const named = Object.values(sources).flatMap(({ destinations }) => Object.entries(destinations));
  const [name, destination] = named.find(([, each]) => each.enabled && each.webhooks.length > 0) ?? [];
  if (count === 1 && name !== undefined && destination !== undefined) return { name, destination };
  const got = to.kind === 'webhooks' ? `${count} webhooks` : 'a tracking API';
  throw flagError(
    '--compare',
    `Expected one webhook to compare with \`--compare\`, got ${got}`,
    'add --url NEW_URL',
  );
}

/** Returns the destination of the old receiver: that of the new one, with another URL. */
export function oldReceiverOf(destination: DestinationOptions, url: string): DestinationOptions {
  if (!URL.canParse(url) || !/^https?:/i.test(url)) {
    throw new ConfigError('Expected `--compare` to be an http:// or https:// URL', {
      flag: '--compare',
      hint: 'give the URL of the old receiver: --compare http://localhost:3000/webhook',
    });
  }
  const headers = destination.webhooks[0]?.headers ?? {};
  return { ...destination, webhooks: [{ url, headers }] };
}
