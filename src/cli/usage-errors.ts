import type { Command } from 'commander';
import type { Io } from './io.ts';

/** Makes commander's complaints about a command line look like every other error: what is wrong, then the way out. */
export function explainUsageErrors(command: Command, { errColor }: Pick<Io, 'errColor'>): void {
  command.configureOutput({
    outputError: (text, write) => {
      const { sentence, hint = `${pathOf(command)} --help shows its flags` } = readUsageError(text);
      write(`${errColor.red('error:')} ${sentence}\n${errColor.dim('hint: ')} ${hint}\n`);
    },
  });
}

/** Of `error: unknown option '--evnt'⏎(Did you mean --event?)`. The value in an unknown option is not shown: it may be a secret. */
export function readUsageError(text: string): { readonly sentence: string; readonly hint?: string } {
  const [first = '', ...others] = text
    .replace(/(option '--?[\w-]+)=[^]*'/, "$1=…'")
    .replace(/(option '-\w)[^-][^]*'/, "$1…'")
    .trim()
    .split('\n');
  const sentence = first.replace(/^error: /, '');
  const suggestion = /^\(Did you mean (.+)\?\)$/.exec(others.at(-1) ?? '')?.[1];
  return suggestion === undefined ? { sentence } : { sentence, hint: `did you mean ${suggestion}?` };
}

/** `hooks send track` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
