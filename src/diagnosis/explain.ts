import type { MistakenRequest, MistakeOptions } from '../check/check.ts';
import { MASK } from '../redact.ts';
import {
  diagnosisOf,
  mismatchText,
  type Diagnosis,
  type MismatchEvidence,
  type NoEvidence,
} from '../signature/evidence.ts';
import { missingSignatureFix, overLossyBody, FIXES } from '../signature/reasons.ts';
import { schemeListText, signatureHeaderNames } from '../signature/schemes/layout.ts';
import type {
  CauseFacts,
  FailureEvidence,
  NetworkCause,
  ResponseCause,
  ResponseEvidence,
} from '../transport/cause.ts';
import { appliesTo, filledTemplate } from './causes/cause-rule.ts';
import { CAUSE_RULES } from './causes/cause-rules.ts';
import { networkCauseText } from './causes/network-causes.ts';
import { exceptionLine, readableBody, responseWords, withoutEntities } from './causes/response-words.ts';
import { SELF_REDIRECT, statusRule } from './causes/status-rules.ts';
import { PAGE_RULES, TAKEN_RULES, takenCauseCode } from './causes/taken-rules.ts';
import { EXCEPTION_THERE, OWN_WORDS } from './causes/wanted-rules.ts';
import type { ExaminedFailure, FailureToExamine } from './examine-port.ts';
import { explainSignature } from './signature/explain-signature.ts';

export type { ExaminedFailure } from './examine-port.ts';
export type { Confidence, ResponseCause } from '../transport/cause.ts';

/** Finds out why a signature does not match. */
export function explainMismatch(mismatch: MismatchEvidence): Diagnosis {
  switch (mismatch.kind) {
    case 'none':
      return explainNone(mismatch);
    case 'lossy': {
      const why = `it would match ${overLossyBody(mismatch.loss)}`;
      return diagnosisOf('lossy-json', 'proved', mismatchText(mismatch.bytes, why, FIXES['lossy-json']));
    }
    case 'signature':
      return explainSignature(mismatch);
    default:
      return mismatch satisfies never;
  }
}

function explainNone({ bytes, schemes }: NoEvidence): Diagnosis {
  const names = signatureHeaderNames(schemes);
  const why = `no signature of an accepted scheme was received (${names})`;
  const fix = missingSignatureFix(names, schemeListText(schemes));
  return diagnosisOf('no-signature', 'proved', mismatchText(bytes, why, fix));
}

/** Returns the code of the cause of a response other than 2xx, for storing. Every such response has a cause. */
export function causeCodeOf(given: ResponseEvidence): string {
  const evidence = { ...given, body: withoutEntities(given.body) };
  const { code } = CAUSE_RULES.find((rule) => appliesTo(rule, evidence)) ?? statusRule(evidence.status);
  if (code === 'failed' && exceptionLine(evidence.body) !== undefined) return EXCEPTION_THERE.code;
  return GUESSES.has(code) && hasOwnReason(evidence) ? OWN_WORDS.code : code;
}

/** Codes of rules that only guess why the receiver rejected the request. */
const GUESSES: ReadonlySet<string> = new Set(['signature-refused', 'malformed']);

/**
 * Whether the response gives a reason in words. Words about the signature do not count, because the cause
 * `signature-refused` says the same in words of its own.
 */
function hasOwnReason({ body }: ResponseEvidence): boolean {
  const words = responseWords(body);
  return words !== undefined && !/signature|hmac|digest|secret/i.test(words);
}

/** Finds the cause of a response of any status; undefined for a 2xx whose body reveals no failure. */
export function responseCauseOf(evidence: ResponseEvidence, facts: CauseFacts): ResponseCause | undefined {
  const isTaken = evidence.status >= 200 && evidence.status <= 299;
  const code = isTaken ? takenCauseCode(evidence) : causeCodeOf(evidence);
  return code === undefined ? undefined : causeOf(code, facts);
}

/** Explains the stored code of a cause. Undefined for a code that this version does not know. */
export function causeOf(code: string, facts: CauseFacts): ResponseCause | undefined {
  const rule =
    BY_CODE.get(redirectsToItself(code, facts) ? SELF_REDIRECT : code) ??
    (code === OTHER ? statusRule(facts.status) : undefined);
  if (rule === undefined) return undefined;
  const { kind, says, fix, body: pattern } = rule;
  const named = pattern?.exec(withoutEntities(facts.body ?? ''))?.groups?.['named'];
  const filled = (template: string): string => filledTemplate(template, facts, named);
  return { code: rule.code, kind, says: filled(says), fix: filled(fix) };
}

/**
 * Whether a redirect leads to the URL of the request. False if a part of the URL is masked: the target may
 * differ there.
 */
function redirectsToItself(code: string, { url, location }: CauseFacts): boolean {
  if (code !== 'redirect' && code !== 'login-redirect') return false;
  if (location === undefined || url.includes(MASK) || !URL.canParse(location, url)) return false;
  return new URL(location, url).href === new URL(url).href;
}

const OTHER = 'status';
const ALL_RULES = [...CAUSE_RULES, OWN_WORDS, EXCEPTION_THERE, ...TAKEN_RULES, ...PAGE_RULES];
const BY_CODE = new Map(ALL_RULES.map((rule) => [rule.code, rule]));

/** Explains a request that failed without a response. Undefined for an unknown error code. */
export function networkCauseOf(
  { error, cause }: FailureEvidence,
  facts: Omit<CauseFacts, 'status'>,
): NetworkCause | undefined {
  const code = cause !== undefined && networkCauseText(cause) !== undefined ? cause : error;
  const text = networkCauseText(code);
  if (text === undefined) return undefined;
  const { says, fix, receiverFix } = text;
  const filled = (template: string): string => filledTemplate(template, { status: 0, ...facts });
  return { ...text, code, says: says && filled(says), fix: filled(fix), receiverFix: filled(receiverFix) };
}

/** The first `length` characters of the readable text of a response: a page without its tags and styles. */
export function readableStart(body: string, length: number): string {
  return readableBody(body).slice(0, length);
}

/**
 * Examines why a request got no response. Loads the module that opens connections on demand, because no other explanation
 * needs it. Never rejects.
 */
export async function examineFailure(failure: FailureToExamine): Promise<ExaminedFailure | undefined> {
  const { examinePort } = await import('./examine-port.ts');
  return examinePort(failure);
}

/**
 * Makes a request for each common mistake of receivers, the likeliest first. Loads the code on demand, because most
 * receivers make no mistake.
 */
export async function mistakenRequests(
  body: Buffer,
  options: MistakeOptions,
): Promise<Iterable<MistakenRequest>> {
  const { requestsOfMistakes } = await import('./mistakes/mistaken-requests.ts');
  return requestsOfMistakes(body, options);
}
