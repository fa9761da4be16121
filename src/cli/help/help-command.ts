import type { Command } from 'commander';
import { isMessageType } from '../../message/types.ts';
import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';
import { DEFAULT_COLUMNS } from '../fit-text.ts';
import { GUIDES, isGuide, readGuide } from './guide.ts';
import type { Io } from '../io.ts';

/** Adds the command `help`. Commander's own prints the whole program's help for a mistyped name. */
export function addHelpCommand(program: Command, io: Io): void {
  program.helpCommand(false);
  const isTop = program.parent === null;
  const what = isTop ? 'show help of a command or a topic' : 'show help of a command';
  program
    .command(isTop ? 'help [topic...]' : 'help [command...]')
    .summary(what)
    .helpOption(false)
    .action((words: readonly string[]) => {
      const [word = ''] = isTop && words.length === 1 ? words : [];
      const guide = word === 'exit-codes' ? 'ci' : word;
      if (!isGuide(guide) || guide === 'serve') commandOf(program, words).outputHelp();
      if (isGuide(guide)) io.out(io.named(`${readGuide(guide, io.stdoutColumns ?? DEFAULT_COLUMNS)}\n`));
    });
}

function commandOf(program: Command, words: readonly string[]): Command {
  let named = program;
  for (const word of words) named = subcommandOf(named, word, TOPICS);
  return named;
}

const TOPICS = `(Run hooks --help to see the commands; the topics are ${GUIDES.join(', ')})`;

/** Commands of hooks by the names that other tools use, such as `trigger` for `hooks send`. Help suggests them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['emit', 'hooks send'],
  ['post', 'hooks send'],
  ['trigger', 'hooks send'],
  ['receive', 'hooks listen'],
  ['inbox', 'hooks listen --ui'],
  ['ui', 'hooks listen --ui'],
  ['forward', 'hooks listen --forward URL'],
  ['tunnel', 'hooks listen --forward URL'],
  ['check', 'hooks test URL'],
  ['server', 'hooks serve'],
  ['start', 'hooks serve'],
]);

/** Finds a subcommand or fails with a usage error, whose hint is a similar name or, at the top level, `otherwise`. */
export function subcommandOf(command: Command, word: string, otherwise?: string): Command {
  const found = command.commands.find((each) => each.name() === word);
  if (found !== undefined) return found;
  const isTop = command.parent === null;
  const names = command.commands.map((each) => each.name());
  const meant =
    (isTop ? otherNameOf(word) : undefined) ?? closest(word, names) ?? (isTop ? guideNear(word) : undefined);
  const hint = meant === undefined ? (isTop ? otherwise : undefined) : `(Did you mean ${meant}?)`;
  const suggestion = hint === undefined ? '' : `\n${hint}`;
  return command.error(`error: unknown command '${printable(word, 80)}'${suggestion}`);
}

function otherNameOf(word: string): string | undefined {
  return isMessageType(word) ? `hooks send ${word}` : OTHER_NAMES.get(word);
}

function guideNear(word: string): string | undefined {
  const guide = closest(word, GUIDES);
  return guide && `hooks help ${guide}`;
}

/** Returns the program's help without examples and options: its description, and the commands in groups. */
export function shortHelp(program: Command): string {
  const help = program.configureHelp({ ...program.configureHelp(), visibleOptions: () => [] });
  return `${help.helpInformation()}\nRun hooks COMMAND --help for examples and flags of a command.\n`;
}
