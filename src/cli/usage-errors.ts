import type { Command } from 'commander';
import { printable } from '../redact.ts';
import { closest } from '../suggest.ts';
import type { Io } from './io.ts';

/** What commander takes where there is no terminal. */
const UNKNOWN_COLUMNS = 80;

/** What of the world commander touches. */
type Surroundings = Pick<Io, 'out' | 'stdoutColumns' | 'stderr' | 'stderrIsTty' | 'errColor'>;

/** Makes commander's complaints about a command line look like every other error: what is wrong, then the way out. */
export function explainUsageErrors(command: Command, io: Surroundings): void {
  command.configureOutput({
    writeOut: io.out,
    getOutHelpWidth: () => io.stdoutColumns ?? UNKNOWN_COLUMNS,
    getErrHelpWidth: () => (io.stderrIsTty ? io.stderr.columns : UNKNOWN_COLUMNS),
    // Help has no colours. Asking what the terminal can do would make its stream.
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    writeErr: (text) => {
      io.stderr.write(text);
    },
    outputError: (text, write) => {
      const { errColor } = io;
      const { sentence, hint = wayOut(sentence, command) } = readUsageError(text);
      const [said, way] = [printable(sentence, 2_000), printable(hint, 2_000)];
      write(`${errColor.red('error:')} ${said}\n${errColor.dim('hint: ')} ${way}\n`);
    },
  });
}

/** Of `error: unknown option '--evnt'⏎(Did you mean --event?)`. The value in an unknown option is not shown: it may be a secret. */
export function readUsageError(text: string): { readonly sentence: string; readonly hint?: string } {
  const [first = '', ...others] = text
    .replace(/(unknown option '--?[\w-]+)=[^]*'/, "$1=…'")
    .replace(/(unknown option '-\w)[^-][^]*'/, "$1…'")
    .trim()
    .split('\n');
  const sentence = first.replace(/^error: /, '');
  const suggestion = /^\(Did you mean (.+)\?\)$/.exec(others.at(-1) ?? '')?.[1];
  return suggestion === undefined ? { sentence } : { sentence, hint: `did you mean ${suggestion}?` };
}

/** Where commander has no suggestion. It compares a flag with the value behind its = and all. */
function wayOut(sentence: string, command: Command): string {
  const help = `${pathOf(command)} --help shows its flags`;
  if (sentence.startsWith('too many arguments')) return `a value that has spaces in it takes quotes; ${help}`;
  const takesIds = command.registeredArguments.some((argument) => /ids?$/.test(argument.name()));
  if (takesIds && /^unknown option '-[^-]/.test(sentence)) {
    return `an id that starts with - comes behind --: ${pathOf(command)} -- ID; ${help}`;
  }
  const flag = /^unknown option '(--[\w-]+)=/.exec(sentence)?.[1];
  const meant = flag === undefined ? undefined : closest(flag, longFlagsOf(command));
  return meant === undefined ? help : `did you mean ${meant}?`;
}

function longFlagsOf(command: Command): string[] {
  const above = command.parent === null ? [] : longFlagsOf(command.parent);
  const own = command.createHelp().visibleOptions(command);
  return [...own.flatMap(({ long }) => long ?? []), ...above];
}

/** `hooks send track` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
