import type { Command } from 'commander';
import type { ExitCode } from './exit-code.ts';
import type { Io } from './io.ts';

/** The options every command has, as `command.optsWithGlobals()` gives them. */
export interface GlobalOptions {
  readonly output: 'text' | 'json';
  readonly quiet?: true;
  readonly verbose?: true;
  readonly color: boolean;
  /** A file, or false for --no-config. */
  readonly config?: string | false;
}

/** What a command's module exports as `define`: adds flags, help and the action to its command. */
export type Define = (command: Command, context: CommandContext) => void;

export interface CommandContext {
  /** The command line, for a command that defines only those of its own commands that stand in it. */
  readonly argv: readonly string[];
  readonly io: Io;
  /** How an action says what the process exits with; without it, 0. */
  readonly exit: (code: ExitCode) => void;
}

/** The line that the list of commands has of it, and the same as a sentence above its own help. */
export function describe(command: Command, summary: string): Command {
  return command.summary(summary).description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
}
