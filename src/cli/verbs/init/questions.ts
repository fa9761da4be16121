import { askAtTerminal, type PromptIo } from '../../flags/prompt.ts';

export const INIT_PURPOSES = ['receiver', 'ci', 'service'] as const;

export type InitPurpose = (typeof INIT_PURPOSES)[number];

export interface InitAnswers {
  readonly purpose: InitPurpose;
  readonly urls: readonly string[];
  readonly isSigned: boolean;
}

interface InitQuestions {
  /** The answers that flags give, and the defaults of the other questions. */
  readonly given: InitAnswers;
  readonly asksPurpose: boolean;
  readonly asksUrl: boolean;
  readonly asksSecret: boolean;
  /** Returns why a URL cannot stand in the config. Undefined if it can. */
  readonly urlProblem: (url: string) => string | undefined;
  readonly io: PromptIo;
}

const PURPOSE_CHOICES = [
  { value: 'receiver', label: 'a receiver that I write', hint: 'send, listen, verify' },
  { value: 'ci', label: 'a job that checks a receiver', hint: 'test, replay' },
  { value: 'service', label: 'a tracking API of my own', hint: 'serve, worker' },
] as const;

/** Asks the user questions on stderr. Returns undefined if the user cancels. Throws InputError if the input ends. */
export async function askQuestions(questions: InitQuestions): Promise<InitAnswers | undefined> {
  const { given, asksPurpose, asksUrl, asksSecret, urlProblem, io } = questions;
  const { confirm, isCancel, select, text } = await import('@clack/prompts');
  const [first = ''] = given.urls;
  const purpose = asksPurpose
    ? await askAtTerminal(io, WITHOUT_QUESTIONS, (terminal) =>
        select<InitPurpose>({
          ...terminal,
          message: 'What is the config for?',
          options: [...PURPOSE_CHOICES],
          initialValue: given.purpose,
        }),
      )
    : given.purpose;
  if (isCancel(purpose)) return undefined;
  const url = asksUrl
    ? await askAtTerminal(io, WITHOUT_QUESTIONS, (terminal) =>
        text({
          ...terminal,
          message: 'Where are messages posted to?',
          placeholder: first,
          defaultValue: first,
          validate: (value) => (value ? urlProblem(value) : undefined),
        }),
      )
    : undefined;
  if (isCancel(url)) return undefined;
  const isSigned = asksSecret
    ? await askAtTerminal(io, WITHOUT_QUESTIONS, (terminal) =>
        confirm({
          ...terminal,
          message: 'Sign messages with the secret in HOOKS_SECRET?',
          // Preselects "yes" for a service, because few services should send unsigned messages.
          initialValue: given.isSigned || purpose === 'service',
        }),
      )
    : given.isSigned;
  if (isCancel(isSigned)) return undefined;
  return { purpose, urls: url === undefined ? given.urls : [url], isSigned };
}

const WITHOUT_QUESTIONS = 'answer with flags: --url URL, --secret-file FILE; --yes accepts the defaults';
