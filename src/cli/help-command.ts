import type { Command } from 'commander';
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

/** The command of that name. A usage error, with a suggestion, where there is none. */
export function subcommandOf(command: Command, word: string): Command {
  const found = command.commands.find((each) => each.name() === word);
  if (found !== undefined) return found;
  const near = closest(
    word,
    command.commands.map((each) => each.name()),
  );
  const suggestion = near === undefined ? '' : `\n(Did you mean ${near}?)`;
  return command.error(`error: unknown command '${printable(word, 80)}'${suggestion}`);
}

/** The help of the program without its examples and options: what it is, and its commands in groups. */
export function shortHelp(program: Command): string {
  const help = program.configureHelp({ ...program.configureHelp(), visibleOptions: () => [] });
  return `${help.helpInformation()}\nRun hooks COMMAND --help for examples and flags of a command.\n`;
}
