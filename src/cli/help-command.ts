import type { Command } from 'commander';
import { printable } from '../redact.ts';
import { closest } from '../suggest.ts';
import { describe } from './command.ts';

/** `help a b`, in the place of commander's own, which shows the whole program's help for a mistyped name. */
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

/** A usage error, with a suggestion, for a name that it has no command of. */
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
