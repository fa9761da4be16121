import { expect } from 'vitest';
import { hooks, type HooksResult, type InProcessOptions } from './run-in-process.ts';

interface RejectedOptions extends InProcessOptions {
  /** Runs the command line. @default in this process */
  readonly run?: typeof hooks;
}

/**
 * Expects a command line to exit with 2, to print nothing on stdout, and to print this error. A text that ends in a
 * line break is all of stderr. Returns stderr.
 */
export async function expectRejected(
  args: readonly string[],
  error: string | RegExp,
  { run = hooks, ...options }: RejectedOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await run(args, options);
  expect([code, stdout], stderr).toEqual([2, '']);
  if (String(error).endsWith('\n')) expect(stderr).toBe(error);
  else expect(stderr).toMatch(error);
  return stderr;
}

/** Expects a command line to have exited with 2. Returns stderr. */
export function errorOf({ code, stderr }: HooksResult): string {
  expect(code, stderr).toBe(2);
  return stderr;
}
