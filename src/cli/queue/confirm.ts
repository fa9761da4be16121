import type { Io } from '../io.ts';
import type { QueueOptions } from './session.ts';

/**
 * Asks a person at a terminal before something is removed or repeated for good. True without asking: a script has decided, or
 * --yes; then nothing is counted for the question.
 */
export async function isConfirmed(
  question: () => Promise<string> | string,
  { yes, output }: QueueOptions,
  io: Io,
): Promise<boolean> {
  const isAsked = yes !== true && output === 'text' && io.stdin.isTTY === true && io.stderrIsTty;
  if (!isAsked) return true;
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    input: io.stdin,
    output: io.stderr,
    signal: io.signal,
    message: await question(),
    initialValue: false,
  });
  if (answer !== true) io.note('Nothing was changed');
  return answer === true;
}

export const DEAD_LETTERS = ['dead letter', 'dead letters'] as const;
export const DELIVERIES = ['delivery', 'deliveries'] as const;

/** `1 dead letter`, `61,204 deliveries` */
export function quantityText(count: number, [one, several]: readonly [string, string]): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : several}`;
}
