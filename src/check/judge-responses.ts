import { STATUS_CODES } from 'node:http';
import type { NetworkError } from '../transport/transport.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, Expected, Fault } from './check.ts';

export interface CheckJudgement {
  /** The one that decided: the first that is not as expected, else the slowest. */
  readonly answer: CheckResponse;
  /** Of the slowest. */
  readonly ms: number;
  /** Undefined: as expected. */
  readonly fault: Fault | undefined;
}

/** What the answers to a check's requests say of the receiver. There is at least one. */
export function judgeResponses(
  check: Check,
  answers: readonly CheckResponse[],
  { timeoutMs, hasTaken }: { readonly timeoutMs: number; readonly hasTaken: boolean },
): CheckJudgement {
  const slowest = answers.reduce((one, other) => (other.ms > one.ms ? other : one));
  const { ms } = slowest;
  const wrong = answers.find((answer) => !isAsExpected(answer, check.expects));
  if (wrong !== undefined) return { answer: wrong, ms, fault: faultOf(check, wrong, hasTaken) };
  const allowedMs = timeoutMs * (check.withinShare ?? 1);
  return { answer: slowest, ms, fault: ms > allowedMs ? tooSlow(ms, timeoutMs) : undefined };
}

function isAsExpected({ kind, ...answer }: CheckResponse, expected: Expected): boolean {
  switch (expected) {
    case 'taken':
    case 'refused':
      return kind === expected;
    case 'answered':
      return kind === 'taken' || kind === 'refused';
    case 'direct':
      return kind !== 'redirect' && kind !== 'none';
    case 'secure':
      return !('error' in answer);
    default:
      return expected satisfies never;
  }
}

/** What is expected, beside the status that came. */
export const EXPECTED_STATUS = {
  taken: '2xx',
  refused: '4xx',
  answered: '2xx or 4xx',
  direct: 'no redirect',
  secure: 'a connection',
} as const satisfies Readonly<Record<Expected, string>>;

/** What a receiver does with every message is not the fault of what is special in this one. */
function faultOf({ faults, expects }: Check, answer: CheckResponse, hasTaken: boolean): Fault {
  const isSpecial = hasTaken || expects === 'refused';
  return (isSpecial ? faults?.[answer.kind] : undefined) ?? commonFault(answer);
}

function commonFault(answer: CheckResponse): Fault {
  switch (answer.kind) {
    case 'none':
      return noAnswer(answer.error, answer.detail);
    case 'redirect':
      return {
        code: 'redirect',
        says: 'it redirects, and no redirect is followed: the message is lost',
        fix: 'give the URL that it leads to (https://, a / at the end or none), or answer at this one',
      };
    case 'refused':
      return refusesValid(answer.status);
    case 'taken':
      return { code: 'accepted', says: 'it takes what it must refuse', fix: 'answer 4xx' };
    case 'failing':
      return {
        code: answer.status < 500 ? 'http-4xx' : 'http-5xx',
        says:
          `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trim() +
          ' means: send it again later, for 4 hours',
        fix: 'the log of the receiver says why it fails',
      };
    default:
      return answer satisfies never;
  }
}

const BY_STATUS: Readonly<Record<number, readonly [says: string, fix: string]>> = {
  404: ['nothing is there at this path', 'check the path of the URL, and the route of the receiver'],
  405: ['it takes no POST at this path', 'check the path of the URL, and the route of the receiver: POST'],
  411: ['it wants a Content-Length, which it was given', 'look at the proxy before it'],
  413: ['it takes smaller bodies only', 'raise the limit on bodies to 64 KB: a message may have 32 KB'],
  415: ['it does not take application/json', 'take Content-Type: application/json'],
};

/** A message that is right was refused, and how it verifies is not the reason, or could not be found out. */
function refusesValid(status: number): Fault {
  const [says, fix] = BY_STATUS[status] ?? [
    'it refuses a message that is right',
    'have sender and receiver the same secret? The log of the receiver may say more',
  ];
  return { code: status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid', says, fix };
}

/** Whether a status says that it is not about the signature. */
export function isAboutElse(status: number): boolean {
  return BY_STATUS[status] !== undefined;
}

const FIXES: Readonly<Record<NetworkError, string>> = {
  timeout: 'answer 2xx first and work later: put the message into a queue of your own',
  refused: 'is the receiver running, and is the port right?',
  dns: 'check the host name in the URL',
  reset: 'it has crashed, or a limit closed the connection: its log says why',
  protocol: 'does something else than HTTP listen on that port?',
  'tls-self-signed':
    "get a certificate from an issuer that everybody trusts (Let's Encrypt); a sender sends nothing to a self-signed one",
  'tls-expired': 'renew the certificate, and check the clocks of both machines',
  'tls-hostname': 'use the name that the certificate is for, or get one for this name',
  'tls-untrusted':
    'send the intermediate certificates along (fullchain.pem), or get a certificate from an issuer that everybody trusts',
  tls: 'does the port speak TLS, version 1.2 at least?',
  'blocked-address': 'use an address that may be connected to',
  aborted: 'try again',
};

function noAnswer(error: NetworkError, detail: string): Fault {
  return {
    code: error,
    says: error === 'timeout' ? `no answer in time: ${detail}` : detail,
    fix: FIXES[error],
  };
}

function tooSlow(ms: number, timeoutMs: number): Fault {
  return {
    code: 'slow',
    says: `the slowest answer took ${inSeconds(ms)} of the ${inSeconds(timeoutMs)} that it may: on a busy day it comes too late, and so the message comes twice`,
    fix: FIXES.timeout,
  };
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
