import { roundedMs } from '../clock.ts';
import type { Check, CheckResult, ReceiverMistake } from './check.ts';
import type { ProbeOutcome } from './mistakes/suspect-model.ts';

export interface CheckJudgement {
  /** Decisive outcome: the first unexpected one, else the slowest. */
  readonly decisive: ProbeOutcome;
  /** Milliseconds that the slowest response took. */
  readonly ms: number;
  /** The mistake of responding too slowly, if all responses are as expected. */
  readonly slow: ReceiverMistake | undefined;
}

/** Judges the outcomes of a check's requests. There must be at least one. */
export function judgeResponses(
  { withinShare = 1 }: Check,
  outcomes: readonly ProbeOutcome[],
  timeoutMs: number,
): CheckJudgement {
  const slowest = outcomes.reduce((one, other) => (other.response.ms > one.response.ms ? other : one));
  const { ms } = slowest.response;
  const decisive = outcomes.find(({ isRight }) => !isRight) ?? slowest;
  const isSlow = decisive.isRight && ms > timeoutMs * withinShare;
  return { decisive, ms, slow: isSlow ? tooSlow(ms, timeoutMs) : undefined };
}

/** The result of a check whose requests were sent. */
export function resultOf(
  check: Check,
  { decisive: { response }, ms }: CheckJudgement,
  mistake: ReceiverMistake | undefined,
): CheckResult {
  const facts = response.kind === 'none' ? { error: response.error } : { status: response.status };
  const common = { ...checkName(check), expected: check.expects, ...facts, ms: roundedMs(ms) };
  if (mistake === undefined) return { ...common, outcome: 'passed' };
  if (mistake === check.advice) return { ...common, outcome: 'passed', advice: mistake };
  const { reply, server } = response.kind === 'none' ? {} : response;
  const words = { ...(reply !== undefined && { reply }), ...(server !== undefined && { server }) };
  return { ...common, outcome: 'failed', mistake, ...words };
}

/** Why the response to a forgery or to an unusual message does not count. */
export const PROVES_NOTHING =
  'it accepted no correct message, so what it does with these requests would prove nothing';

/** The result of a check whose requests were not sent, or prove nothing. */
export function unsentResult(check: Check, reason: string): CheckResult {
  return { ...checkName(check), outcome: 'unsent', reason };
}

/** The fields of a result that identify its check. */
export function checkName({ code, title }: Check): Pick<CheckResult, 'check' | 'title'> {
  return { check: code, title };
}

/** The mistake of responses whose body has no end. */
export const NEVER_ENDS: ReceiverMistake = {
  code: 'never-ends',
  says: 'its responses have a status, but their bodies do not end: a sender that reads them waits for its whole timeout',
  fix: 'end the response on each path (res.end(), exchange.close(), done), or give its Content-Length',
};

function tooSlow(ms: number, timeoutMs: number): ReceiverMistake {
  return {
    code: 'slow',
    says: `the slowest response took ${inSeconds(ms)} of the allowed ${inSeconds(timeoutMs)}: on a busy day it would come too late, and the message would be sent twice`,
    fix: 'respond with 2xx first and do the work later: put the message into a queue',
  };
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
