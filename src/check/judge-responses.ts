import { STATUS_CODES } from 'node:http';
import type { ResponseCause } from '../transport/cause.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, Expected, ReceiverMistake } from './check.ts';

export interface CheckJudgement {
  /** Decisive response: the first unexpected one, else the slowest. */
  readonly response: CheckResponse;
  /** Milliseconds that the slowest response took. */
  readonly ms: number;
  /** The mistake that the responses show. Undefined if all of them are as expected and fast enough. */
  readonly mistake: ReceiverMistake | undefined;
}

/** Judges the responses to the requests of a check. There must be at least one response. */
export function judgeResponses(
  check: Check,
  responses: readonly CheckResponse[],
  { timeoutMs, hasTaken }: { readonly timeoutMs: number; readonly hasTaken: boolean },
): CheckJudgement {
  const slowest = responses.reduce((one, other) => (other.ms > one.ms ? other : one));
  const { ms } = slowest;
  const wrong = responses.find((response) => !isAsExpected(response, check.expects));
  if (wrong !== undefined) return { response: wrong, ms, mistake: mistakeOf(check, wrong, hasTaken) };
  const allowedMs = timeoutMs * (check.withinShare ?? 1);
  return { response: slowest, ms, mistake: ms > allowedMs ? tooSlow(ms, timeoutMs) : undefined };
}

function isAsExpected(response: CheckResponse, expected: Expected): boolean {
  const { kind } = response;
  switch (expected) {
    case 'taken':
      return isTakenResponse(response);
    case 'rejected':
      return kind === expected;
    case 'decided':
      return isTakenResponse(response) || kind === 'rejected';
    case 'direct':
      return kind !== 'redirect' && kind !== 'none';
    case 'secure':
      return !('error' in response);
    default:
      return expected satisfies never;
  }
}

/** Whether a receiver accepted the message: a 2xx whose body does not name a failure. */
export function isTakenResponse({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && cause === undefined;
}

/** Expected status, displayed next to the actual one. */
export const EXPECTED_STATUS = {
  taken: '2xx',
  rejected: '4xx',
  decided: '2xx or 4xx',
  direct: 'no redirect',
  secure: 'a connection',
} as const satisfies Readonly<Record<Expected, string>>;

/**
 * Returns the mistake that an unexpected response shows. A cause that is visible in the response (a proxy, the receiver's
 * own words) takes precedence over the mistakes of the check. The mistakes of a check that does not expect a rejection apply
 * only if the receiver has accepted a message.
 */
function mistakeOf(
  { mistakes, statusMistakes = {}, expects }: Check,
  response: CheckResponse,
  hasTaken: boolean,
): ReceiverMistake {
  const unclear = expects === 'rejected' ? unclearRejection(response) : undefined;
  if (unclear !== undefined) return unclear;
  const seen = response.kind === 'none' ? undefined : seenCause(response.cause);
  if (seen !== undefined) return seen;
  const isSpecial = (hasTaken || expects === 'rejected') && !isLost(response);
  const ofStatus = response.kind === 'rejected' ? statusMistakes[response.status] : undefined;
  return (isSpecial ? (ofStatus ?? mistakes?.[response.kind]) : undefined) ?? commonMistake(response);
}

function unclearMistake(code: string, says: string): ReceiverMistake {
  const fix = 'respond with 401 instead (400 to a body that is not JSON): senders look only at the status';
  return { code, says, fix };
}

/** The mistake of rejecting a forgery in words, but without a 4xx. Only for receivers that accept correct messages. */
function unclearRejection(response: CheckResponse): ReceiverMistake | undefined {
  if (response.kind === 'redirect') {
    return unclearMistake('redirects-forgeries', 'it redirects instead of rejecting');
  }
  if (response.kind !== 'taken') return undefined;
  if (isPage(response)) {
    const says = `it responds with ${response.status} and an HTML page instead of rejecting`;
    return unclearMistake('page-for-forgeries', says);
  }
  if (response.cause?.code === 'error-in-body') {
    const says = `it rejects in the JSON of its body, but with status ${response.status}`;
    return unclearMistake('refuses-in-words', says);
  }
  // A recognized cause other than words in the body has its own explanation.
  const hasOtherCause = response.cause !== undefined && response.cause.code !== 'words-in-body';
  if (hasOtherCause || !REJECTION_WORDS.test(response.reply ?? '')) return undefined;
  const says = `it rejects in words, but with status ${response.status}`;
  return unclearMistake('refuses-in-words', says);
}

/** Whether a 2xx is a page for browsers. */
export function isPage({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && (cause?.code === 'page' || cause?.code === 'login-page');
}

const REJECTION_WORDS =
  /\b(?:invalid|bad|wrong|missing|no)[ _-]?(?:x[ _-])?(?:signature|hmac|digest)|(?:signature|hmac|digest)[^.\n]{0,30}(?:invalid|mismatch|missing|not match|failed|wrong)|^\W*(?:unauthori[sz]ed|forbidden|denied|rejected|error)\b/i;

/** Whether a forgery gets the response of a correct message: a 2xx without words of a rejection. */
export function isTakenForgery(response: CheckResponse): boolean {
  return isTakenResponse(response) && unclearRejection(response) === undefined;
}

/** Whether there was no response for a reason that does not depend on the message. */
function isLost(response: CheckResponse): boolean {
  return response.kind === 'none' && response.error !== 'reset';
}

const LIFT_LIMIT =
  'lift the limit for this address while testing: hooks test sends some 40 requests in a second';

/**
 * Fixes for the author of the receiver, by code of the cause. They replace the fix in the cause, which tells senders to
 * retry for longer.
 */
const OWN_FIXES: Readonly<Record<string, string>> = {
  'too-early': 'let the receiver respond with 2xx to a valid message, however early it arrives',
  unavailable: 'look into the log of the receiver, or of the proxy in front of it',
};

/** Returns the mistake that the cause of a response shows, if the cause says more than the status. */
function seenCause(cause: ResponseCause | undefined): ReceiverMistake | undefined {
  if (cause === undefined || cause.kind === 'status') return undefined;
  const { code, says, fix, confidence } = cause;
  const isLimit = cause.kind === 'busy' && /(?:^|-)limit(?:-|$)/.test(code);
  return { code, says, confidence, fix: isLimit ? LIFT_LIMIT : (OWN_FIXES[code] ?? fix) };
}

function commonMistake(response: CheckResponse): ReceiverMistake {
  switch (response.kind) {
    case 'none':
      return noResponse(response);
    case 'redirect':
      return {
        code: 'redirect',
        says: `${response.cause?.says ?? 'it redirects'}: the message is lost`,
        fix: response.cause?.fix ?? 'use the URL that it redirects to, or respond at this one',
      };
    case 'rejected':
      return rejectsValid(response.status, response.cause);
    case 'taken':
      return { code: 'accepted', says: 'it accepts what it must reject', fix: 'respond with 4xx' };
    case 'failing':
      return {
        code: response.status < 500 ? 'http-4xx' : 'http-5xx',
        says:
          `${response.status} ${STATUS_CODES[response.status] ?? ''}`.trim() +
          ' means: send it again later, for 4 hours' +
          (isTelling(response.cause) ? `; ${response.cause.says}` : ''),
        fix: isTelling(response.cause) ? response.cause.fix : "look into the receiver's log for the reason",
      };
    default:
      return response satisfies never;
  }
}

/** Codes of causes that say only that a message was rejected: the check itself knows more about the reason. */
const VAGUE: ReadonlySet<string> = new Set([
  'signature-refused',
  'signature-invalid-there',
  'unsigned',
  'malformed',
  'failed',
  'status',
]);

function isTelling(cause: ResponseCause | undefined): cause is ResponseCause {
  return cause !== undefined && !VAGUE.has(cause.code);
}

/** The mistake of rejecting a correct message, if no mistake in verifying signatures was found. */
function rejectsValid(status: number, cause: ResponseCause | undefined): ReceiverMistake {
  const code = status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid';
  if (isTelling(cause)) {
    return { code, says: cause.says, fix: cause.fix, confidence: cause.confidence };
  }
  return {
    code,
    says: 'it rejects a correct message',
    fix: 'check that sender and receiver have the same secret; if they do, save the headers and the body as the receiver gets them to a file, and pass it to hooks verify, which finds mistakes that requests cannot reveal',
  };
}

/** Codes of causes that do not rule out the signature as the reason of a rejection. */
const MAYBE_SIGNATURE: ReadonlySet<string> = new Set(['own-words', 'refused-spring']);

/** Whether the cause of a rejection shows that the signature is not the reason for the rejection. */
export function isAboutElse({ cause }: CheckResponse): boolean {
  return cause !== undefined && !MAYBE_SIGNATURE.has(cause.code) && !VAGUE.has(cause.code);
}

function noResponse({ error, detail, cause }: CheckResponse & { kind: 'none' }): ReceiverMistake {
  const text = error === 'timeout' ? `no response in time: ${detail}` : detail;
  return {
    code: cause?.code ?? error,
    says: cause?.says === undefined ? text : `${text}; ${cause.says}`,
    fix: cause?.receiverFix ?? 'try again',
  };
}

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
