import { InputError } from '../../errors.ts';
import type { Io } from '../io.ts';

interface Question {
  readonly urls: readonly string[];
  readonly isSigned: boolean;
  readonly asksUrl: boolean;
  readonly asksSecret: boolean;
  /** What is wrong with a URL, or undefined. */
  readonly problemOf: (url: string) => string | undefined;
  readonly io: Pick<Io, 'stdin' | 'stderr' | 'signal'>;
}

/** Asks a person at a terminal, on stderr. Undefined: cancelled. Throws InputError when the input ends. */
export async function ask(
  question: Question,
): Promise<{ urls: readonly string[]; isSigned: boolean } | undefined> {
  const { urls, asksUrl, asksSecret, problemOf, io } = question;
  const { confirm, isCancel, text } = await import('@clack/prompts');
  const terminal = { input: io.stdin, output: io.stderr };
  const [first = ''] = urls;
  const url = asksUrl
    ? await answerTo(io, (signal) =>
        text({
          ...terminal,
          signal,
          message: 'Where are messages posted to?',
          placeholder: first,
          defaultValue: first,
          validate: (value) => (value ? problemOf(value) : undefined),
        }),
      )
    : undefined;
  if (isCancel(url)) return undefined;
  const isSigned = asksSecret
    ? await answerTo(io, (signal) =>
        confirm({
          ...terminal,
          signal,
          message: 'Sign them with the secret in HOOKS_SECRET?',
          initialValue: question.isSigned,
        }),
      )
    : question.isSigned;
  if (isCancel(isSigned)) return undefined;
  return { urls: url === undefined ? urls : [url], isSigned };
}

/** clack does not notice that its input has ended (Ctrl-D): it would wait for ever, and leave the cursor hidden. */
async function answerTo<Answer>(
  { stdin, signal }: Question['io'],
  asking: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const ended = new AbortController();
  let timer: NodeJS.Immediate | undefined;
  // An answer pauses the input too, and is there before the timer.
  const paused = (): void => void (timer = setImmediate(() => ended.abort()));
  stdin.on('pause', paused);
  try {
    const answer = await asking(AbortSignal.any([signal, ended.signal]));
    if (ended.signal.aborted) throw noAnswer();
    return answer;
  } finally {
    stdin.off('pause', paused);
    clearImmediate(timer);
  }
}

function noAnswer(): InputError {
  return new InputError('The input ended before the question was answered', {
    hint: 'answer by flags: --url URL, --secret-file FILE; --yes takes what was proposed',
  });
}
