import { STATUS_CODES } from 'node:http';
import type { NetworkError } from '../transport/transport.ts';
import type { CheckResponse } from './check-response.ts';
import type { Check, Expected, Fault } from './check.ts';

export interface CheckJudgement {
  /** The response that decided: the first that is not as expected, else the slowest. */
  readonly answer: CheckResponse;
  /** How long the slowest response took. */
  readonly ms: number;
  /** Undefined when all responses are as expected. */
  readonly fault: Fault | undefined;
}

/** Judges the responses to a check's requests, of which there is at least one. */
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

/** The expected status, shown next to the actual one. */
export const EXPECTED_STATUS = {
  taken: '2xx',
  refused: '4xx',
  answered: '2xx or 4xx',
  direct: 'no redirect',
  secure: 'a connection',
} as const satisfies Readonly<Record<Expected, string>>;

/** Finds the fault. A check's own fault applies only to a receiver that accepts other messages. */
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
        says: 'it redirects, but senders follow no redirect: the message is lost',
        fix: 'give the URL that it leads to (https://, a / at the end or none), or answer at this one',
      };
    case 'refused':
      return refusesValid(answer.status);
    case 'taken':
      return { code: 'accepted', says: 'it accepts what it must reject', fix: 'answer 4xx' };
    case 'failing':
      return {
        code: answer.status < 500 ? 'http-4xx' : 'http-5xx',
        says:
          `${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trim() +
          ' means: send it again later, for 4 hours',
        fix: "look into the receiver's log for the reason",
      };
    default:
      return answer satisfies never;
  }
}

const BY_STATUS: Readonly<Record<number, readonly [says: string, fix: string]>> = {
  404: ['there is nothing at this path', 'check the path of the URL, and the route of the receiver'],
  405: ['it accepts no POST at this path', 'check the path of the URL, and the route of the receiver: POST'],
  411: ['it asks for a Content-Length, which it was given', 'check the proxy in front of it'],
  413: ['it accepts smaller bodies only', 'raise the limit on bodies to 64 KB: a message may have 32 KB'],
  415: ['it does not accept application/json', 'accept Content-Type: application/json'],
};

/** The fault of rejecting a correct message, when its way of verifying is not the reason, or could not be found. */
function refusesValid(status: number): Fault {
  const [says, fix] = BY_STATUS[status] ?? [
    'it rejects a correct message',
    "check that sender and receiver have the same secret; the receiver's log may say more",
  ];
  return { code: status === 404 || status === 405 ? 'wrong-path' : 'refuses-valid', says, fix };
}

/** Whether a status says that the signature is not the reason. */
export function isAboutElse(status: number): boolean {
  return BY_STATUS[status] !== undefined;
}

const FIXES: Readonly<Record<NetworkError, string>> = {
  timeout: 'answer 2xx first and do the work later: put the message into a queue',
  refused: 'check that the receiver is running, and that the port is right',
  dns: 'check the host name in the URL',
  reset: "look into the receiver's log: it has crashed, or a limit closed the connection",
  protocol: 'check that the port speaks HTTP',
  'tls-self-signed':
    "get a certificate from a public issuer (Let's Encrypt); senders send nothing to a self-signed one",
  'tls-expired': 'renew the certificate, and check the clocks of both machines',
  'tls-hostname': 'use the name that the certificate is for, or get one for this name',
  'tls-untrusted':
    'send the intermediate certificates too (fullchain.pem), or get a certificate from a public issuer',
  tls: 'check that the port speaks TLS 1.2 or later',
  'blocked-address': 'use an address that may be connected to',
  aborted: 'try again',
};

function noAnswer(error: NetworkError, detail: string): Fault {
  return {
    code: error,
    says: error === 'timeout' ? `no response in time: ${detail}` : detail,
    fix: FIXES[error],
  };
}

function tooSlow(ms: number, timeoutMs: number): Fault {
  return {
    code: 'slow',
    says: `the slowest response took ${inSeconds(ms)} of the allowed ${inSeconds(timeoutMs)}: on a busy day it comes too late, so that the message is sent twice`,
    fix: FIXES.timeout,
  };
}

function inSeconds(ms: number): string {
  return `${Math.round(ms / 100) / 10}s`;
}
