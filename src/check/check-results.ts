import { roundedMs } from '../clock.ts';
import type { Check, CheckResult } from './check.ts';
import type { CheckJudgement } from './judge-responses.ts';

/** The result of a check whose requests were sent. */
export function resultOf(check: Check, { response, ms, mistake }: CheckJudgement): CheckResult {
  const facts = response.kind === 'none' ? { error: response.error } : { status: response.status };
  const common = { ...checkName(check), expected: check.expects, ...facts, ms: roundedMs(ms) };
  if (mistake === undefined) return { ...common, outcome: 'passed' };
  if (check.isAdvice && response.kind === 'rejected') {
    return { ...common, outcome: 'passed', advice: mistake };
  }
  const reply = response.kind === 'none' ? undefined : response.reply;
  return { ...common, outcome: 'failed', mistake, ...(reply !== undefined && { reply }) };
}

/** The result of a check whose requests were not sent. */
export function unsentResult(check: Check, reason: string): CheckResult {
  return { ...checkName(check), outcome: 'unsent', reason };
}

/** The fields of a result that identify its check. */
export function checkName({ code, title }: Check): Pick<CheckResult, 'check' | 'title'> {
  return { check: code, title };
}
