import { CommanderError, type Command } from 'commander';
import { ConfigError, HooksError, InputError, messageOf } from '../errors.ts';
import { printable } from '../redact.ts';
import { errorSentence, hintOf, noteError } from './error-text.ts';
import { ExitCode, interruptedCode } from './exit-code.ts';
import { fitText } from './fit-text.ts';
import { shortHelp } from './help/help-command.ts';
import { createIo, isGiven, loadPalettes, type Io } from './io.ts';
import { createProgram } from './program.ts';

/** Runs one command line. Sets `exitCode` instead of exiting, because exiting cuts piped output at 64 KiB. */
export async function main(proc: NodeJS.Process): Promise<void> {
  const io = createIo(proc, await loadPalettes(proc));
  const argv = proc.argv.slice(2);
  const onBeforeExit = (): void => {
    proc.exitCode = explain(stalledError(), io, argv);
  };
  proc.once('beforeExit', onBeforeExit);
  const code = await runCommandLine(argv, io);
  proc.off('beforeExit', onBeforeExit);
  // A failure of the last write is reported one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  const { reason } = io.signal as { reason: unknown }; // Node types it as `any`
  proc.exitCode = reason instanceof HooksError ? explain(reason, io, argv) : code;
  // Removes the listeners, so that a signal ends the process: the user's config can keep the process alive.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) proc.removeAllListeners(signal);
}

/**
 * The error if Node ends because its event loop is empty while a promise is still awaited: that must not look like success.
 */
function stalledError(): InputError {
  return new InputError('The command ended early: it awaits a promise that can no longer settle', {
    hint: 'look for a config that awaits something forever',
  });
}

/** Runs one command line and returns its exit code. Uses the process only through `io`. */
export async function runCommandLine(given: readonly string[], io: Io): Promise<ExitCode> {
  const argv = meantLine(given);
  try {
    let code: ExitCode = ExitCode.ok;
    const program = await createProgram(argv, io, (ended) => {
      code = ended;
    });
    const [group] = argv.length === 1 ? program.commands.filter(isGroupNamed(argv[0])) : [];
    if (argv.length === 0) io.out(fitText(io.named(shortHelp(program)), io.stdoutColumns));
    else if (group !== undefined) group.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, io, argv);
  }
}

/** Rewrites lines that other programs understand: `-V`, `version` and `--help COMMAND`. */
function meantLine(argv: readonly string[]): readonly string[] {
  const [first = '', ...others] = argv;
  if (['-V', 'version'].includes(first) && others.length === 0) return ['--version'];
  const isHelp = ['-h', '--help'].includes(first) && others.length > 0;
  return isHelp && others.every((word) => !word.startsWith('-')) ? ['help', ...others] : argv;
}

/** Whether a command has this name and only runs by its subcommands. */
function isGroupNamed(name: string | undefined): (command: Command) => boolean {
  return (command) =>
    command.name() === name && command.commands.length > 0 && command.registeredArguments.length === 0;
}

/** Prints an error and returns its exit code. No other code does this. */
function explain(error: unknown, io: Io, argv: readonly string[]): ExitCode {
  // Commander has already printed the help, the version or the usage error.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.unusable;
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  // The command ended because stdout was lost. Prints nothing: `main` prints the cause, unless only the reader of stdout is
  // gone.
  if (io.signal.aborted && isAbort(error)) return ExitCode.negative;
  if (error instanceof HooksError) {
    const errors = [error, ...(error instanceof ConfigError ? error.others : [])];
    for (const each of errors.slice(0, 5)) {
      const hint = hintOf(each, io);
      noteError(io, errorSentence(each), hint && printable(hint, 2_000));
    }
    if (errors.length > 5) io.note(`and ${errors.length - 5} more`);
  } else {
    const message = messageOf(error);
    noteError(io, `Unexpected: ${printable(message, 2_000)}`, 'report this bug in hooks; -v shows where');
  }
  if (isGiven(argv, 'verbose') && error instanceof Error) io.note(stackText(error));
  return ExitCode.unusable;
}

/** Returns the escaped stack trace: it starts with the message, which can quote text from outside. */
function stackText({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
