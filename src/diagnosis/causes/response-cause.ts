import { APPLICATION_RULES } from './application-rules.ts';
import {
  appliesTo,
  filledTemplate,
  type CauseFacts,
  type CauseKind,
  type CauseRule,
  type ResponseEvidence,
} from './cause-rule.ts';
import { FIREWALL_RULES } from './firewall-rules.ts';
import { FORGERY_PROTECTION_RULES } from './forgery-protection-rules.ts';
import { GATEWAY_RULES, TUNNEL_RULES } from './gateway-rules.ts';
import { HOSTING_RULES } from './hosting-rules.ts';
import { MASK } from '../../redact.ts';
import { RARE_STATUS_RULES } from './rare-status-rules.ts';
import { ROUTE_RULES } from './route-rules.ts';
import { SERVICE_RULES } from './service-rules.ts';
import { SELF_REDIRECT, statusRule, STATUS_RULES } from './status-rules.ts';
import { PAGE_RULES, TAKEN_RULES, takenCauseCode } from './taken-rules.ts';

import { EXCEPTION_THERE, OWN_WORDS, WANTED_RULES } from './wanted-rules.ts';
import { exceptionLine, responseWords, withoutEntities } from './response-words.ts';

/** Why a response is what it is, and how to fix it. */
export interface ResponseCause {
  readonly code: string;
  readonly kind: CauseKind;
  /** A sentence without its full stop. */
  readonly says: string;
  /** Begins with a verb. */
  readonly fix: string;
}

/** The most specific first: the first rule that applies decides. */
export const CAUSE_RULES: readonly CauseRule[] = [
  ...TUNNEL_RULES,
  ...FIREWALL_RULES,
  ...FORGERY_PROTECTION_RULES,
  ...HOSTING_RULES,
  ...ROUTE_RULES,
  ...WANTED_RULES,
  ...SERVICE_RULES,
  ...APPLICATION_RULES,
  ...GATEWAY_RULES,
  ...STATUS_RULES,
  ...RARE_STATUS_RULES,
];

/** Recognizes where a response other than 2xx comes from, and returns the code to keep. Every such status has one. */
export function causeCodeOf(given: ResponseEvidence): string {
  const evidence = { ...given, body: withoutEntities(given.body) };
  const { code } = CAUSE_RULES.find((rule) => appliesTo(rule, evidence)) ?? statusRule(evidence.status);
  if (code === 'failed' && exceptionLine(evidence.body) !== undefined) return EXCEPTION_THERE.code;
  return SAYS_NO_REASON.has(code) && hasOwnReason(evidence) ? OWN_WORDS.code : code;
}

/** Rules of a status that guess at the reason. */
const SAYS_NO_REASON: ReadonlySet<string> = new Set(['signature-refused', 'malformed']);

/** Words about the signature say no more than the rules do. */
function hasOwnReason({ body }: ResponseEvidence): boolean {
  const words = responseWords(body);
  return words !== undefined && !/signature|hmac|digest|secret/i.test(words);
}

/** Recognizes the cause of a response of any status; undefined for a 2xx whose body names no failure. */
export function responseCauseOf(evidence: ResponseEvidence, facts: CauseFacts): ResponseCause | undefined {
  const isTaken = evidence.status >= 200 && evidence.status <= 299;
  const code = isTaken ? takenCauseCode(evidence) : causeCodeOf(evidence);
  return code === undefined ? undefined : causeOf(code, facts);
}

/** Puts a kept code into words. Undefined for one that this version does not know. */
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

/** False where a part of the URL is masked: it may be another URL. */
function redirectsToItself(code: string, { url, location }: CauseFacts): boolean {
  if (code !== 'redirect' && code !== 'login-redirect') return false;
  if (location === undefined || url.includes(MASK) || !URL.canParse(location, url)) return false;
  return new URL(location, url).href === new URL(url).href;
}

const OTHER = 'status';
const BY_CODE = new Map(
  [...CAUSE_RULES, OWN_WORDS, EXCEPTION_THERE, ...TAKEN_RULES, ...PAGE_RULES].map((rule) => [
    rule.code,
    rule,
  ]),
);
