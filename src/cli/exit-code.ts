import type { Io } from './io.ts';

/** The exit codes of the command line: fixed, scripts rely on them. */
export const ExitCode = {
  ok: 0,
  /** What was tried came out negative. */
  negative: 1,
  /** It could not be tried: a bad flag, setting, input or file. */
  unusable: 2,
  sigint: 130,
  sigterm: 143,
} as const;

export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The code of an interrupted command, or undefined when nothing interrupted it. */
export function interruptedCode({ signal }: Pick<Io, 'signal'>): ExitCode | undefined {
  if (signal.reason === 'SIGINT') return ExitCode.sigint;
  return signal.reason === 'SIGTERM' ? ExitCode.sigterm : undefined;
}
