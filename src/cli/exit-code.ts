import type { Io } from './io.ts';

/** The exit codes of all commands. They must not change, because scripts rely on them. */
export const ExitCode = {
  ok: 0,
  /** The command ran, and its result is negative: not delivered, not valid, not as expected. */
  negative: 1,
  /** The command could not run: a bad flag, setting, input or file. */
  unusable: 2,
  sighup: 129,
  sigint: 130,
  sigterm: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** Returns the exit code of an interrupted command, or undefined if no signal interrupted it. */
export function interruptedCode({ signal }: Pick<Io, 'signal'>): ExitCode | undefined {
  if (signal.reason === 'SIGHUP') return ExitCode.sighup;
  if (signal.reason === 'SIGINT') return ExitCode.sigint;
  return signal.reason === 'SIGTERM' ? ExitCode.sigterm : undefined;
}
