import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import type { QueueOptions } from './run.ts';

interface Question {
  /** Counts the deliveries that would change. No question is asked for 0. */
  readonly count: () => Promise<number> | number;
  readonly text: (count: number) => string;
}

/**
 * Asks for confirmation on a terminal before deliveries are removed or sent again. Returns undefined to continue, or the
 * exit code if the user declined. Scripts and --yes are not asked, and `count` is not called for them.
 */
export async function askFirst(
  { count, text }: Question,
  { yes, output }: QueueOptions,
  io: Io,
): Promise<ExitCode | undefined> {
  const isAsked = yes !== true && output === 'text' && io.stdin.isTTY === true && io.stderrIsTty;
  const counted = isAsked ? await count() : 0;
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
