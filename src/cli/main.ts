import { CommanderError } from 'commander';
import { HooksError, InputError, messageOf } from '../errors.ts';
import { printable } from '../redact.ts';
import { errorSentence, noteError } from './error-text.ts';
import { ExitCode, interruptedCode } from './exit-code.ts';
import { fitText } from './fit-text.ts';
import { shortHelp } from './help-command.ts';
import { createIo, getsColors, isGiven, type Io } from './io.ts';
import { loadPalette } from './palette.ts';
import { createProgram } from './program.ts';

/** Runs one command line. Sets `exitCode` rather than exiting, since exiting cuts piped output at 64 KiB. */
export async function main(proc: NodeJS.Process): Promise<void> {
  const io = createIo(proc, getsColors(proc) ? await loadPalette() : undefined);
  const argv = proc.argv.slice(2);
  const onBeforeExit = (): void => {
    proc.exitCode = explain(stalledError(), io, argv);
  };
  proc.once('beforeExit', onBeforeExit);
  const code = await runCommandLine(argv, io);
  proc.off('beforeExit', onBeforeExit);
  // Whether the last write has failed is known a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  const { reason } = io.signal as { reason: unknown }; // typed as anything
  proc.exitCode = reason instanceof HooksError ? explain(reason, io, argv) : code;
  // A config may keep the process alive: then a signal ends it as it ends any other.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) proc.removeAllListeners(signal);
}

/** Node ends when nothing is left that could happen, even if a promise is still awaited. That must not look like success. */
function stalledError(): InputError {
  return new InputError('The command ended before it was done: what it waits for can no longer come', {
    hint: 'look for a config that awaits something forever',
  });
}

/** Runs one command line with nothing of the process but what `io` hands over, and returns its exit code. */
export async function runCommandLine(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    let code: ExitCode = ExitCode.ok;
    const program = await createProgram(argv, io, (ended) => {
      code = ended;
    });
    if (argv.length === 0) io.out(fitText(shortHelp(program), io.stdoutColumns));
    else await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, io, argv);
  }
}

/** Turns an error into text and an exit code; nothing else does. */
function explain(error: unknown, io: Io, argv: readonly string[]): ExitCode {
  // Help, the version or the usage error (with its suggestion) is printed already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.unusable;
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  // The loss of stdout has ended it: quietly, or `main` prints why.
  if (io.signal.aborted && isAbort(error)) return ExitCode.negative;
  if (error instanceof HooksError) {
    noteError(io, errorSentence(error), error.hint && printable(error.hint, 2_000));
  } else {
    const message = messageOf(error);
    noteError(io, `Unexpected: ${printable(message, 2_000)}`, 'report this fault of hooks; -v shows where');
  }
  if (isGiven(argv, 'verbose') && error instanceof Error) io.note(stackText(error));
  return ExitCode.unusable;
}

/** Escaped, since it begins with the message, which may quote anything. */
function stackText({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
