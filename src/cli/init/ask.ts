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

/** Asks a person at a terminal, on stderr. Undefined: cancelled. */
export async function ask(
  question: Question,
): Promise<{ urls: readonly string[]; isSigned: boolean } | undefined> {
  const { urls, asksUrl, asksSecret, problemOf, io } = question;
  const { confirm, isCancel, text } = await import('@clack/prompts');
  const terminal = { input: io.stdin, output: io.stderr, signal: io.signal };
  const [first = ''] = urls;
  const url = asksUrl
    ? await text({
        ...terminal,
        message: 'Where are messages posted to?',
        placeholder: first,
        defaultValue: first,
        validate: (value) => (value ? problemOf(value) : undefined),
      })
    : undefined;
  if (isCancel(url)) return undefined;
  const isSigned = asksSecret
    ? await confirm({
        ...terminal,
        message: 'Sign them with the secret in HOOKS_SECRET?',
        initialValue: question.isSigned,
      })
    : question.isSigned;
  if (isCancel(isSigned)) return undefined;
  return { urls: url === undefined ? urls : [url], isSigned };
}
