import { STATUS_CODES } from 'node:http';
import type { ResponseCause } from '../transport/cause.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, Expected, ReceiverMistake } from './check.ts';

export interface CheckJudgement {
  /** The response that decided: the first that is not as expected, else the slowest. */
  readonly response: CheckResponse;
  /** How long the slowest response took. */
  readonly ms: number;
  /** Undefined when all responses are as expected. */
  readonly mistake: ReceiverMistake | undefined;
}

/** Judges the responses to a check's requests, of which there is at least one. */
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

/** Whether it takes the message, and says nothing against that in the body. */
export function isTakenResponse({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && cause === undefined;
}

/** The expected status, shown next to the actual one. */
export const EXPECTED_STATUS = {
  taken: '2xx',
  rejected: '4xx',
  decided: '2xx or 4xx',
  direct: 'no redirect',
  secure: 'a connection',
} as const satisfies Readonly<Record<Expected, string>>;

/**
 * Finds the mistake. What stands in front of the receiver, or what it says in its own words, goes before a check's own explanation, which
 * applies only to a receiver that accepts other messages.
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

const INSTEAD = 'respond with 401 instead (400 to what is not JSON): senders look at the status only';

/** The mistake of not taking a forgery, but not saying so by a status. Only for a receiver that takes right messages. */
function unclearRejection(response: CheckResponse): ReceiverMistake | undefined {
  if (response.kind === 'redirect') {
    return { code: 'redirects-forgeries', says: 'it redirects instead of rejecting', fix: INSTEAD };
  }
  if (response.kind !== 'taken') return undefined;
  if (isPage(response)) {
    return {
      code: 'page-for-forgeries',
      says: `it responds with ${response.status} and an HTML page instead of rejecting`,
      fix: INSTEAD,
    };
  }
  if (response.cause?.code === 'error-in-body') {
    const says = `it rejects in the JSON of its body, but with status ${response.status}`;
    return { code: 'refuses-in-words', says, fix: INSTEAD };
  }
  // What is recognized says so itself.
  const isElse = response.cause !== undefined && response.cause.code !== 'words-in-body';
  if (isElse || !REJECTION_WORDS.test(response.reply ?? '')) return undefined;
  const says = `it rejects in words, but with status ${response.status}`;
  return { code: 'refuses-in-words', says, fix: INSTEAD };
}

/** Whether a 2xx is a page for browsers. */
export function isPage({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && (cause?.code === 'page' || cause?.code === 'login-page');
}

const REJECTION_WORDS =
  /\b(?:invalid|bad|wrong|missing|no)[ _-]?(?:x[ _-])?(?:signature|hmac|digest)|(?:signature|hmac|digest)[^.\n]{0,30}(?:invalid|mismatch|missing|not match|failed|wrong)|^\W*(?:unauthori[sz]ed|forbidden|denied|rejected|error)\b/i;

/** Whether a forgery gets what a right message gets: 2xx, and no word of a rejection. */
export function isTakenForgery(response: CheckResponse): boolean {
  return isTakenResponse(response) && unclearRejection(response) === undefined;
}

/** Whether there was no response for a reason that has nothing to do with the message. */
function isLost(response: CheckResponse): boolean {
  return response.kind === 'none' && response.error !== 'reset';
}

const LIFT_LIMIT =
  'lift the limit for this address while testing: hooks test sends some 40 requests in a second';

/** Fixes that are not a sender's, who would try longer: by code. */
const OWN_FIXES: Readonly<Record<string, string>> = {
  'too-early': 'let the receiver respond with 2xx to a right message, however soon it comes',
  unavailable: 'look into the log of the receiver, or of the proxy in front of it',
};

/** The cause that a response shows of itself, beyond its status. */
function seenCause(cause: ResponseCause | undefined): ReceiverMistake | undefined {
  if (cause === undefined || cause.kind === 'status') return undefined;
  const { code, says, fix } = cause;
  const isLimit = cause.kind === 'busy' && /(?:^|-)limit(?:-|$)/.test(code);
  return { code, says, fix: isLimit ? LIFT_LIMIT : (OWN_FIXES[code] ?? fix) };
}

function commonMistake(response: CheckResponse): ReceiverMistake {
  switch (response.kind) {
    case 'none':
      return noResponse(response);
    case 'redirect':
      return {
        code: 'redirect',
        says: `${response.cause?.says ?? 'it redirects'}: the message is lost`,
        fix: response.cause?.fix ?? 'give the URL that it leads to, or respond at this one',
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

/** Causes that say no more than that a message was rejected, of which the check knows more. */
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

/** The mistake of rejecting a correct message, when its way of verifying is not the reason, or could not be found. */
function rejectsValid(status: number, cause: ResponseCause | undefined): ReceiverMistake {
  const code = status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid';
  if (isTelling(cause)) return { code, says: cause.says, fix: cause.fix };
  return {
    code,
    says: 'it rejects a correct message',
    fix: 'check that sender and receiver have the same secret; where they have, write the body and the headers into a file as the receiver gets them, and pass that to hooks verify, which tries what a receiver cannot be asked',
  };
}

/** Causes that say something, behind which the signature may be. */
const MAYBE_SIGNATURE: ReadonlySet<string> = new Set(['own-words', 'refused-spring']);

/** Whether a response says that the signature is not the reason for it. */
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
    says: `the slowest response took ${inSeconds(ms)} of the allowed ${inSeconds(timeoutMs)}: on a busy day it comes too late, so that the message is sent twice`,
    fix: 'respond with 2xx first and do the work later: put the message into a queue',
  };
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
