import type { Io } from '../io.ts';
import type { QueueOptions } from './session.ts';

/** Asks a person at a terminal before something is removed or repeated for good. True without asking: a script has decided, or --yes. */
export async function isConfirmed(question: string, { yes, output }: QueueOptions, io: Io): Promise<boolean> {
  const isAsked = yes !== true && output === 'text' && io.stdin.isTTY === true && io.stderrIsTty;
  if (!isAsked) return true;
  const { confirm } = await import('@clack/prompts');
  const answer = await confirm({
    input: io.stdin,
    output: io.stderr,
    signal: io.signal,
    message: question,
    initialValue: false,
  });
  if (answer !== true) io.note('Nothing was changed');
  return answer === true;
}
