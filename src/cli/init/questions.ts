import { InputError } from '../../errors.ts';
import type { Io } from '../io.ts';

interface InitQuestions {
  readonly urls: readonly string[];
  readonly isSigned: boolean;
  readonly asksUrl: boolean;
  readonly asksSecret: boolean;
  /** Returns what is wrong with a URL, or undefined. */
  readonly urlProblem: (url: string) => string | undefined;
  readonly io: Pick<Io, 'stdin' | 'stderr' | 'signal'>;
}

/** Asks a person at a terminal, on stderr. Undefined when cancelled. Throws InputError when the input ends. */
export async function askQuestions(
  question: InitQuestions,
): Promise<{ urls: readonly string[]; isSigned: boolean } | undefined> {
  const { urls, asksUrl, asksSecret, urlProblem, io } = question;
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
          validate: (value) => (value ? urlProblem(value) : undefined),
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

/** clack does not notice that its input has ended (Ctrl-D): it would wait forever, and leave the cursor hidden. */
async function answerTo<Answer>(
  { stdin, signal }: InitQuestions['io'],
  asking: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const ended = new AbortController();
  let timer: NodeJS.Immediate | undefined;
  // An answered question pauses the input too, before the timer runs.
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
    hint: 'answer by flags: --url URL, --secret-file FILE; --yes accepts the proposals',
  });
}
