import type { Command } from 'commander';
import { MESSAGE_TYPES } from '../message/types.ts';
import { printable } from '../redact.ts';
import { closest } from '../suggest.ts';
import { describe } from './command.ts';

/** Adds `help a b` in place of commander's own, which shows the whole program's help for a mistyped name. */
export function addHelpCommand(program: Command): void {
  if (program.commands.length === 0) return;
  program.helpCommand(false);
  describe(program.command('help [command...]'), 'show help of a command')
    .helpOption(false)
    .action((words: readonly string[]) => {
      let named = program;
      for (const word of words) named = subcommandOf(named, word);
      named.help();
    });
}

/** Where a person looks for a command under another name. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ...MESSAGE_TYPES.map((type) => [type, `hooks send ${type}`] as const),
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

/** The command of that name. A usage error, with a suggestion, where there is none. */
export function subcommandOf(command: Command, word: string): Command {
  const found = command.commands.find((each) => each.name() === word);
  if (found !== undefined) return found;
  const near = closest(
    word,
    command.commands.map((each) => each.name()),
  );
  const meant = (command.parent === null ? OTHER_NAMES.get(word) : undefined) ?? near;
  const suggestion = meant === undefined ? '' : `\n(Did you mean ${meant}?)`;
  return command.error(`error: unknown command '${printable(word, 80)}'${suggestion}`);
}

/** The help of the program without its examples and options: what it is, and its commands in groups. */
export function shortHelp(program: Command): string {
  const help = program.configureHelp({ ...program.configureHelp(), visibleOptions: () => [] });
  return `${help.helpInformation()}\nRun hooks COMMAND --help for examples and flags of a command.\n`;
}
