import { InputError } from '../../../errors.ts';
import type { Io } from '../../io.ts';

export const INIT_PURPOSES = ['receiver', 'ci', 'service'] as const;

export type InitPurpose = (typeof INIT_PURPOSES)[number];

export interface InitAnswers {
  readonly purpose: InitPurpose;
  readonly urls: readonly string[];
  readonly isSigned: boolean;
}

interface InitQuestions {
  /** The answers that the flags give, and what is proposed for the others. */
  readonly given: InitAnswers;
  readonly asksPurpose: boolean;
  readonly asksUrl: boolean;
  readonly asksSecret: boolean;
  /** Returns what is wrong with a URL, or undefined. */
  readonly urlProblem: (url: string) => string | undefined;
  readonly io: Pick<Io, 'stdin' | 'stderr' | 'signal'>;
}

const PURPOSE_CHOICES = [
  { value: 'receiver', label: 'a receiver that I write', hint: 'send, listen, verify' },
  { value: 'ci', label: 'a job that checks a receiver', hint: 'test, replay' },
  { value: 'service', label: 'a tracking API of my own', hint: 'serve, worker' },
] as const;

/** Asks a person at a terminal, on stderr. Undefined when cancelled. Throws InputError when the input ends. */
export async function askQuestions(questions: InitQuestions): Promise<InitAnswers | undefined> {
  const { given, asksPurpose, asksUrl, asksSecret, urlProblem, io } = questions;
  const { confirm, isCancel, select, text } = await import('@clack/prompts');
  const terminal = { input: io.stdin, output: io.stderr };
  const [first = ''] = given.urls;
  const purpose = asksPurpose
    ? await answerTo(io, (signal) =>
        select<InitPurpose>({
          ...terminal,
          signal,
          message: 'What is the config for?',
          options: [...PURPOSE_CHOICES],
          initialValue: given.purpose,
        }),
      )
    : given.purpose;
  if (isCancel(purpose)) return undefined;
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
          // A service that signs nothing is seldom meant.
          initialValue: given.isSigned || purpose === 'service',
        }),
      )
    : given.isSigned;
  if (isCancel(isSigned)) return undefined;
  return { purpose, urls: url === undefined ? given.urls : [url], isSigned };
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
