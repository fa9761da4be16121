import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import type { QueueOptions } from './run.ts';

interface Question {
  /** How many would be changed: of none there is no question. */
  readonly count: () => Promise<number> | number;
  readonly text: (count: number) => string;
}

/**
 * Asks a person at a terminal before something is removed or repeated for good. Undefined: go on; else the exit code. Without
 * asking a script has decided, or --yes; then nothing is counted for the question.
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

/** `1 dead letter`, `61,204 deliveries` */
export function quantityText(count: number, [one, several]: readonly [string, string]): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
