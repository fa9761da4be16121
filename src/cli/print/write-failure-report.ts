import { HooksError, messageOf } from '../../errors.ts';
import { printable } from '../../redact.ts';
import { openCaseReport, type ReportedCase } from '../../report/case-report.ts';
import { errorSentence } from '../error-text.ts';

export interface Reported {
  /** Path of the file of `--report`. */
  readonly report: string | undefined;
  /** The name of the report's test suite, such as `hooks test`. */
  readonly suite: string;
  /** Other files of the command, and globs, which the report must not overwrite. */
  readonly inputs: readonly (string | undefined)[];
}

interface FailureReport extends Pick<Reported, 'suite'> {
  readonly report: string;
  /** The absolute path of the file of `--report`. */
  readonly path: string;
}

/** Writes a report with one case, the error. Throws InputError if it cannot be written. */
export async function writeFailureReport(
  failure: unknown,
  { report: name, path, suite }: FailureReport,
): Promise<void> {
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
