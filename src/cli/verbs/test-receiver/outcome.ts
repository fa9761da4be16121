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
export const REPORTED = {
  passed: 'passed',
  failed: 'failure',
  skipped: 'skipped',
  // An interrupted run must not look like a success.
  unsent: 'error',
} as const satisfies Readonly<Record<CheckOutcome, ReportedCase['outcome']>>;

/** Converts the result of a check to a case of a report. `url` must not contain secrets. */
export function checkCase(result: CheckResult, url: string): ReportedCase {
  const { check, title, outcome, ms, mistake, reason, reply } = result;
  const details = [
    title,
    mistake && `wrong: ${mistake.says}`,
    mistake && `fix: ${mistake.fix}`,
    reply && `response: ${reply}`,
  ];
  return {
    classname: url,
    name: `${check}: ${title}`,
    outcome: REPORTED[outcome],
    ms,
    message: reason ?? mistakeText(result),
    type: mistake?.code ?? outcome,
    details: details.filter(Boolean).join('\n'),
    hint: mistake?.fix,
    line: checkFields(result),
  };
}
