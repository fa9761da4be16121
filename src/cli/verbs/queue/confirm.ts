import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { flagError } from '../../flags/flag-values.ts';
import type { Io } from '../../io.ts';
import type { QueueOptions } from './run.ts';

interface Question {
  /** Counts the deliveries that would change. No question is asked for 0. */
  readonly count: () => Promise<number> | number;
  readonly text: (count: number) => string;
}

/**
 * Asks for confirmation at a terminal before deliveries are removed or sent again. Returns undefined to continue, or the
 * exit code if the user declined. Asks nothing with --yes, and does not call `count` then. Throws ConfigError without a
 * terminal and without --yes.
 */
export async function askFirst(
  { count, text }: Question,
  { yes }: QueueOptions,
  io: Io,
): Promise<ExitCode | undefined> {
  if (yes) return undefined;
  if (io.stdin.isTTY !== true || !io.stderrIsTty) {
    const hint = 'add --yes to change them, or --dry-run to count them';
    throw flagError('--yes', 'There is no terminal at which to confirm this change of many deliveries', hint);
  }
  const counted = await count();
  if (counted === 0) return undefined;
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({
    input: io.stdin,
    output: io.stderr,
    signal: io.signal,
    message: text(counted),
    initialValue: false,
  });
  if (answer === true) return undefined;
  io.note('Nothing was changed');
  return isCancel(answer) ? (interruptedCode(io) ?? ExitCode.sigint) : ExitCode.negative;
}

export const DEAD_LETTERS = ['dead letter', 'dead letters'] as const;
export const DELIVERIES = ['delivery', 'deliveries'] as const;

/** Formats a count with its noun, such as `1 dead letter` or `61,204 deliveries`. */
export function quantityText(count: number, [one, several]: readonly [string, string]): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
