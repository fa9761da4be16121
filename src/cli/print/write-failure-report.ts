import { resolve } from 'node:path';
import { HooksError, messageOf } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { expandInputs } from '../../replay/reading/expand-inputs.ts';
import { openCaseReport, type ReportedCase } from '../../report/case-report.ts';
import { rejectOverwrite } from '../../report/reject-overwrite.ts';
import { errorSentence } from '../error-text.ts';

export interface Reported {
  /** The file of `--report`, if it is given. */
  readonly report: string | undefined;
  /** The name of the suite, such as `hooks test`. */
  readonly suite: string;
  /** Files and globs that are never overwritten. */
  readonly inputs: readonly string[];
}

interface FailureReport extends Reported {
  readonly report: string;
  /** The absolute path of `report`. */
  readonly path: string;
  readonly cwd: string;
}

/** Writes a report of one case, which is an error. Throws InputError or ConfigError when it cannot be written, or not to that path. */
export async function writeFailureReport(
  failure: unknown,
  { report: name, path, suite, inputs, cwd }: FailureReport,
): Promise<void> {
  for (const input of inputs) {
    // An input that names no file cannot be lost.
    const files = await expandInputs([input], cwd).catch(() => []);
    const paths = files.map((file) => resolve(cwd, file));
    await rejectOverwrite(paths, { path, name, flag: '--report' });
  }
  const report = await openCaseReport(path, { name, suite });
  await report.finish([failureCase(failure, suite)], FAILURE_SUMMARY);
}

/** The summary of a report of one error. */
export const FAILURE_SUMMARY = { errors: 1, ms: 0 };

/** The case of a command that could not try anything. */
export function failureCase(failure: unknown, suite: string): ReportedCase {
  const { message, type, hint } = errorFacts(failure);
  const line = { outcome: 'error', error: type, reason: message, hint };
  return { classname: suite, name: 'the command', outcome: 'error', message, type, details: hint, line };
}

function errorFacts(error: unknown): { message: string; type: string; hint?: string | undefined } {
  if (error instanceof HooksError) {
    return { message: errorSentence(error), type: error.code, hint: error.hint };
  }
  return { message: printable(messageOf(error), 2_000), type: 'error' };
}
