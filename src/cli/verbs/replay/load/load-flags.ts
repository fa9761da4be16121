import type { FlagRule } from '../../../flags/flag-values.ts';

/** The flags of `hooks replay --load`, as typed. */
export interface LoadFlags {
  readonly load?: string;
  /** Time to send for, in ms (`--for`). */
  readonly for?: number;
  /** The alias of `--for`. */
  readonly duration?: number;
  readonly warmup?: number;
  readonly loop?: true;
  readonly slo?: string;
  /** A URL or a command that tells the number of messages that arrived. */
  readonly received?: string;
  /** Number of threads that send. */
  readonly workers?: number;
}

const OF_LOAD = ['--for', '--duration', '--warmup', '--loop', '--slo', '--received', '--workers'] as const;

export const LOAD_RULES: readonly FlagRule[] = [
  ...OF_LOAD.map((flag): FlagRule => ({
    flag,
    needs: '--load',
    hint: 'add --load SHAPE, such as --load 200/s',
  })),
  {
    flag: '--load',
    excludes: [
      '--rate',
      '--speed',
      '--resume',
      '--again',
      '--fail-fast',
      '--give-up-after',
      '--failed',
      '--queue',
      '--store',
      '--endpoint',
      '--write-key',
      '--strategy',
      '--dry-run',
      '--curl',
      '--show-secrets',
    ],
    hint: 'leave out one of the two: a load has its own pace, one webhook, and no place in the file to keep',
  },
  {
    flag: '--duration',
    excludes: ['--for'],
    hint: 'leave out one of the two: both give the time to send for',
  },
];
