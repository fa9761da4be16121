import { resolve } from 'node:path';
import { HooksError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { expandInputs } from '../../replay/expand-inputs.ts';
import { openCaseReport } from '../../report/case-report.ts';
import { rejectOverwrite } from '../../report/reject-overwrite.ts';
import { sentence } from '../sentence.ts';

export interface Reported {
  /** The file of `--report`, if it is given. */
  readonly report: string | undefined;
  /** As `hooks test`. */
  readonly suite: string;
  /** Files and globs that are never written over. */
  readonly inputs: readonly string[];
}

interface Target extends Reported {
  readonly report: string;
  /** The same, absolute. */
  readonly path: string;
  readonly cwd: string;
}

/** A report of one case, which is an error. Throws InputError or ConfigError when it cannot be written, or not there. */
export async function writeFailureReport(
  failure: unknown,
  { report: name, path, suite, inputs, cwd }: Target,
): Promise<void> {
  for (const input of inputs) {
    // What names no file cannot be lost.
    const files = await expandInputs([input], cwd).catch(() => []);
    const paths = files.map((file) => resolve(cwd, file));
    await rejectOverwrite(paths, { path, name, flag: '--report' });
  }
  const report = await openCaseReport(path, { name, suite });
  const { message, type, hint } = factsOf(failure);
  const line = { outcome: 'error', error: type, reason: message, hint };
  const reported = { classname: suite, name: 'the command', outcome: 'error', message, type } as const;
  const summary = { errors: 1, ms: 0 };
  await report.finish([{ ...reported, details: hint, line }], summary);
}

function factsOf(error: unknown): { message: string; type: string; hint?: string | undefined } {
  if (error instanceof HooksError) return { message: sentence(error), type: error.code, hint: error.hint };
  return { message: printable(error instanceof Error ? error.message : String(error), 2_000), type: 'error' };
}
