import type { CheckResponse } from './check-response.ts';
import type { Expected, ReceiverMistake } from './check.ts';

export function isAsExpected(response: CheckResponse, expected: Expected): boolean {
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

/** Whether this is an expected response that a receiver gives, too, if it rejects everything. */
export function isOfAnyReceiver(response: CheckResponse, expected: Expected): boolean {
  return (expected === 'decided' || expected === 'direct') && !isTakenResponse(response);
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
  direct: 'a direct response',
  secure: 'a connection',
} as const satisfies Readonly<Record<Expected, string>>;

function unclearMistake(code: string, says: string): ReceiverMistake {
  const fix =
    'respond with 401 instead (400 to a body that is not JSON), and set the status before any output: senders look only at the status';
  return { code, says, fix };
}

/**
 * The mistake of rejecting a forgery in words, but without a 4xx. Only for receivers that accept correct messages.
 * `isOther`: whether correct messages got other words, which were the same for all.
 */
export function unclearRejection(response: CheckResponse, isOther = false): ReceiverMistake | undefined {
  if (response.kind === 'redirect') {
    return unclearMistake('redirects-forgeries', 'it redirects instead of rejecting');
  }
  if (response.kind !== 'taken') return undefined;
  const { status, cause, reply = '' } = response;
  if (isPage(response)) {
    const says = `it responds with ${status} and an HTML page instead of rejecting`;
    return unclearMistake('page-for-forgeries', says);
  }
  const isJson = cause?.code === 'error-in-body';
  // A recognized cause other than words in the body has its own explanation.
  if (!isJson && cause !== undefined && cause.code !== 'words-in-body') return undefined;
  if (!isJson && !isOther && !REJECTION_WORDS.test(reply)) return undefined;
  const where = isJson ? 'the JSON of its body' : 'words';
  return unclearMistake('refuses-in-words', `it rejects in ${where}, but with status ${status}`);
}

/** Whether a 2xx reports a rejection in the words of its body. */
export function isRejectedInWords({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && /^(?:error|words)-in-body$/.test(cause?.code ?? '');
}

/** Whether a 2xx is a page for browsers. */
export function isPage({ kind, cause }: CheckResponse): boolean {
  return kind === 'taken' && (cause?.code === 'page' || cause?.code === 'login-page');
}

const REJECTION_WORDS =
  /\b(?:invalid|bad|wrong|missing|no)[ _-]?(?:(?:x|valid|matching)[ _-])?(?:signature|hmac|digest)|(?:signature|hmac|digest)[^.\n]{0,30}(?:invalid|mismatch|missing|not match|failed|wrong)|^\W*(?:unauthori[sz]ed|forbidden|denied|rejected|error)\b(?!"\s*:\s*(?:null|false|0|""|\[\]|\{\}))/i;
