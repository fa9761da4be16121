import { resolve } from 'node:path';
import { HooksError, messageOf } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { expandInputs } from '../../replay/reading/expand-inputs.ts';
import { openCaseReport, type ReportedCase } from '../../report/case-report.ts';
import { rejectOverwrite } from '../../report/reject-overwrite.ts';
import { errorSentence } from '../error-text.ts';

export interface Reported {
  /** Path of the file of `--report`. */
  readonly report: string | undefined;
  /** The name of the report's test suite, such as `hooks test`. */
  readonly suite: string;
  /** Files and globs that the report must not overwrite. */
  readonly inputs: readonly string[];
}

interface FailureReport extends Reported {
  readonly report: string;
  /** The absolute path of the file of `--report`. */
  readonly path: string;
  readonly cwd: string;
}

/**
 * Writes a report with one case, the error. Throws InputError if it cannot be written, ConfigError if it would overwrite an
 * input.
 */
export async function writeFailureReport(
  failure: unknown,
  { report: name, path, suite, inputs, cwd }: FailureReport,
): Promise<void> {
  for (const input of inputs) {
    // An input that does not exist cannot be overwritten.
    const files = await expandInputs([input], cwd).catch(() => []);
    const paths = files.map((file) => resolve(cwd, file));
    await rejectOverwrite(paths, { path, name, flag: '--report' });
  }
  const report = await openCaseReport(path, { name, suite });
  await report.finish([failureCase(failure, suite)], FAILURE_SUMMARY);
}

/** The summary of a report with one error. */
export const FAILURE_SUMMARY = { errors: 1, ms: 0 };

/** Creates the case of a command that failed before it tried anything. */
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
