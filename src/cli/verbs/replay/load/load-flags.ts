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
  readonly yes?: true;
}

const LOAD_FLAGS = ['--for', '--duration', '--warmup', '--loop', '--slo', '--received', '--yes'] as const;

/** Flags that keep an order, a pace or a place in the file, which a load has not. */
const OTHER_FLAGS = [
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
] as const;

export const LOAD_RULES: readonly FlagRule[] = [
  ...LOAD_FLAGS.map((flag): FlagRule => ({
    flag,
    needs: '--load',
    hint: 'add --load SHAPE, such as --load 200/s',
  })),
  ...OTHER_FLAGS.map((other): FlagRule => ({
    flag: '--load',
    excludes: [other],
    hint: `leave ${other} out: a load has its own pace, and keeps no place in the file`,
  })),
  {
    flag: '--duration',
    excludes: ['--for'],
    hint: 'leave out one of the two: both give the time to send for',
  },
];
