import type { CheckOutcome, CheckResult } from '../../../check/check.ts';
import type { ReportedCase } from '../../../report/case-report.ts';
import { durationText } from '../../attempt-text.ts';
import { checkFields, mistakeText } from './result-text.ts';

export interface CheckSummary extends Readonly<Record<CheckOutcome, number>> {
  readonly checks: number;
  readonly ms: number;
}

export function checkSummaryOf(results: readonly Pick<CheckResult, 'outcome'>[], ms: number): CheckSummary {
  const counts = { passed: 0, failed: 0, skipped: 0, unsent: 0 };
  for (const { outcome } of results) counts[outcome]++;
  return { checks: results.length, ...counts, ms: Math.round(ms) };
}

/** Returns the line of counts, such as `21 passed, 2 failed, 1 skipped, 3 not tried, in 1.2s`. */
export function summaryText({ passed, failed, skipped, unsent, ms }: CheckSummary): string {
  const parts = [
    `${passed} passed`,
    `${failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(unsent > 0 ? [`${unsent} not tried`] : []),
  ];
  return `${parts.join(', ')}, in ${durationText(ms)}`;
}

/** The outcome of a check as a report names it. */
const REPORTED = {
  passed: 'passed',
  failed: 'failure',
  skipped: 'skipped',
  // An interrupted run must not look like a success.
  unsent: 'error',
} as const satisfies Readonly<Record<CheckOutcome, ReportedCase['outcome']>>;

/** Converts the result of a check to a case of a report. `url` must not contain secrets. */
export function checkCase(result: CheckResult, url: string): ReportedCase {
  const { mistake, reason, reply } = result;
  const message = reason ?? mistakeText(result);
  const details = [reply && `response: ${reply}`];
  const about = { message, details, line: checkFields(result) };
  return { ...reportedCase(result, url, about), hint: mistake?.fix };
}

interface CaseTexts extends Pick<ReportedCase, 'message' | 'line'> {
  /** Lines of the case that follow its title, the mistake and the fix. */
  readonly details: readonly (string | undefined)[];
}

/** Creates the case of a check with or without --state. `url` must not contain secrets. */
export function reportedCase(
  { check, title, outcome, ms, mistake }: Pick<CheckResult, 'check' | 'title' | 'outcome' | 'ms' | 'mistake'>,
  url: string,
  { details, ...about }: CaseTexts,
): ReportedCase {
  const lines = [title, mistake && `wrong: ${mistake.says}`, mistake && `fix: ${mistake.fix}`, ...details];
  return {
    ...about,
    classname: url,
    name: `${check}: ${title}`,
    outcome: REPORTED[outcome],
    ms,
    type: mistake?.code ?? outcome,
    details: lines.filter(Boolean).join('\n'),
  };
}
