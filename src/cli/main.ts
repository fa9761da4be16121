import { CommanderError } from 'commander';
import { HooksError, InputError } from '../errors.ts';
import { printable } from '../redact.ts';
import { ExitCode, interruptedCode } from './exit-code.ts';
import { createIo, type Io } from './io.ts';
import { isGiven } from './is-given.ts';
import { createProgram } from './program.ts';
import { sentence } from './sentence.ts';

/** Runs one command line. Sets `exitCode` rather than exiting, since exiting cuts piped output at 64 KiB. */
export async function main(proc: NodeJS.Process): Promise<void> {
  const io = createIo(proc);
  const argv = proc.argv.slice(2);
  const stall = (): void => {
    proc.exitCode = explain(stalled(), io, argv);
  };
  proc.once('beforeExit', stall);
  const code = await run(argv, io);
  proc.off('beforeExit', stall);
  // Whether the last write has failed is known a turn later.
  await new Promise((resolve) => setImmediate(resolve));
  const { reason } = io.signal as { reason: unknown }; // typed as anything
  proc.exitCode = reason instanceof HooksError ? explain(reason, io, argv) : code;
  // Should a config keep the process alive, a signal ends it as it ends any other.
  for (const signal of ['SIGINT', 'SIGTERM']) proc.removeAllListeners(signal);
}

/** Node ends when nothing is left that could happen, whoever waits for it. That must not look like success. */
function stalled(): InputError {
  return new InputError('It ended before it was done: what it waits for cannot come any more', {
    hint: 'a config that awaits something for ever does this',
  });
}

/** The only place that turns an error into text and an exit code. */
async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  try {
    let code: ExitCode = ExitCode.ok;
    const program = await createProgram(argv, io, (ended) => {
      code = ended;
    });
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    return explain(error, io, argv);
  }
}

function explain(error: unknown, io: Io, argv: readonly string[]): ExitCode {
  // Commander has printed help, the version or the usage error (with its suggestion) by itself.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.ok : ExitCode.unusable;
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  // What the loss of stdout has ended: quietly, or told by whoever called.
  if (io.signal.aborted && isAbort(error)) return ExitCode.negative;
  const { errColor: color } = io;
  if (error instanceof HooksError) {
    io.note(`${color.red('error:')} ${sentence(error)}`);
    if (error.hint !== undefined) io.note(`${color.dim('hint: ')} ${printable(error.hint, 2_000)}`);
  } else {
    io.note(
      `${color.red('error:')} unexpected: ${printable(error instanceof Error ? error.message : String(error), 2_000)}`,
    );
    io.note(`${color.dim('hint: ')} this is a fault of hooks; -v shows where`);
  }
  if (isGiven(argv, 'verbose') && error instanceof Error) io.note(stackOf(error));
  return ExitCode.unusable;
}

/** Begins with the message, which may quote anything. */
function stackOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .map((line) => printable(line, 2_000))
    .join('\n');
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
