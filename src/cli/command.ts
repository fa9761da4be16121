import type { Command, HelpConfiguration } from 'commander';
import type { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';

/** The options that every command has, as `command.optsWithGlobals()` returns them. */
export interface GlobalOptions {
  readonly output: 'text' | 'json';
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
  /** Path of the config file (`--config`), or false for `--no-config`. */
  readonly config?: string | false;
}

/** Adds flags, help and the action to a command. Each command's module exports one as `define…`. */
export type Define = (command: Command, context: CommandContext) => void;

export interface CommandContext {
  /** The words of the command line. A command need not define subcommands that they do not name. */
  readonly argv: readonly string[];
  readonly io: Io;
  /** Sets the exit code of the process; without a call it is 0. */
  readonly exit: (code: ExitCode) => void;
}

/** Settings for the help of every command. A command without a description shows its summary as a sentence. */
export const HELP: HelpConfiguration = {
  showGlobalOptions: true,
  commandDescription: (command) => command.description() || sentenceOf(command.summary()),
};

function sentenceOf(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}
