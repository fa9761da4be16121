import type { FlagRule } from '../../../flags/flag-values.ts';

/** The flags that only `hooks replay --load` has, before `loadPlanOf` validates them. */
export interface LoadFlags {
  readonly load?: string;
  /** Duration of the load, in ms (`--for`). */
  readonly for?: number;
  /** Same as `for`, but given as `--duration`. */
  readonly duration?: number;
  readonly warmup?: number;
  readonly loop?: true;
  readonly slo?: string;
  /** A URL or shell command that outputs the number of messages that arrived. */
  readonly received?: string;
  /** Number of threads that send. */
  readonly workers?: number;
}

const NEEDS_LOAD = { needs: '--load', hint: 'add --load SHAPE, such as --load 200/s' } as const;

/** Flag rules of `--load`. Plain data, because every `hooks replay` loads this module, even without --load. */
export const LOAD_RULES: readonly FlagRule[] = [
  { flag: '--for', ...NEEDS_LOAD },
  { flag: '--duration', ...NEEDS_LOAD },
  { flag: '--warmup', ...NEEDS_LOAD },
  { flag: '--loop', ...NEEDS_LOAD },
  { flag: '--slo', ...NEEDS_LOAD },
  { flag: '--received', ...NEEDS_LOAD },
  { flag: '--workers', ...NEEDS_LOAD },
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
    hint: 'leave out one of the two: a load has its own rate, sends to one webhook, and cannot be resumed',
  },
  {
    flag: '--duration',
    excludes: ['--for'],
    hint: 'leave out one of the two: both give the time to send for',
  },
];
