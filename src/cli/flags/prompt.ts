import type { CommonOptions } from '@clack/prompts';
import { InputError } from '../../errors.ts';
import type { Io } from '../io.ts';

/** The part of the environment that a question at a terminal needs. */
export type PromptIo = Pick<Io, 'stdin' | 'stderr' | 'signal'>;

/**
 * Asks a question on stderr. Throws InputError with this hint if the input ends (Ctrl-D): clack would wait forever and leave
 * the cursor hidden.
 */
export async function askAtTerminal<Result>(
  { stdin, stderr, signal }: PromptIo,
  hint: string,
  ask: (terminal: CommonOptions) => Promise<Result>,
): Promise<Result> {
  const ended = new AbortController();
  let timer: NodeJS.Immediate | undefined;
  // The input pauses when it ends, but also after an answer: then `ask` settles before the timer runs.
  const paused = (): void => void (timer = setImmediate(() => ended.abort()));
  stdin.on('pause', paused);
  try {
    const either = AbortSignal.any([signal, ended.signal]);
    const result = await ask({ input: stdin, output: stderr, signal: either });
    if (ended.signal.aborted) throw new InputError(INPUT_ENDED, { hint });
    return result;
  } finally {
    stdin.off('pause', paused);
    clearImmediate(timer);
  }
}

const INPUT_ENDED = 'The input ended before the question was answered';

/** Asks for a secret, whose characters are not shown. Throws InputError if the user gives none. */
export async function typedSecret(io: PromptIo): Promise<string> {
  const { password, isCancel } = await import('@clack/prompts');
  const hint = 'give --secret-file FILE, or HOOKS_SECRET';
  const typed = await askAtTerminal(io, hint, (terminal) => password({ ...terminal, message: 'Secret' }));
  if (!isCancel(typed)) return typed;
  throw new InputError('No secret was typed', { hint });
}
