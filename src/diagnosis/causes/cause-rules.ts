import type { CauseFacts } from '../../transport/cause.ts';
import { appliesTo, type CauseRule, type ReadResponse } from './cause-rule.ts';
import { FRONT_RULES } from './front-rules.ts';
import { productRule, productRuleOf } from './product-rules.ts';
import { RECEIVER_RULES } from './receiver-rules.ts';
import { responseWords } from './response-words.ts';
import { STATUS_RULES, unknownStatus } from './status-rules.ts';
import { PAGE_RULES, TAKEN_RULES } from './taken-rules.ts';

const LATER_RULES = [...RECEIVER_RULES, ...STATUS_RULES];
/**
 * Rules for responses other than 2xx, in the order in which they are tried. `productRule` makes the rules for products in
 * front of the receiver, such as nginx, which are tried after FRONT_RULES.
 */
export const CAUSE_RULES: readonly CauseRule[] = [...FRONT_RULES, ...LATER_RULES];

/** Finds the first rule that applies to a response other than 2xx. If none does, makes one from the status. */
export function ruleOf(seen: ReadResponse): CauseRule {
  const find = (rules: readonly CauseRule[]): CauseRule | undefined =>
    rules.find((rule) => appliesTo(rule, seen));
  // Redirects and authentication challenges have rules of their own, which are more exact than those for products.
  const isRedirect = seen.status < 400 && seen.headers['location'] !== undefined;
  const isChallenge = seen.status === 401 && seen.headers['www-authenticate'] !== undefined;
  const ofProduct = isRedirect || isChallenge ? undefined : productRule(seen);
  return find(FRONT_RULES) ?? ofProduct ?? find(LATER_RULES) ?? unknownStatus(seen.status);
}

const BY_CODE = new Map([...CAUSE_RULES, ...TAKEN_RULES, ...PAGE_RULES].map((rule) => [rule.code, rule]));

/** Returns the rule with a stored code. If this version does not know it, finds a rule by status and quotation. */
export function storedRule(code: string, { status, quotation: body = '' }: CauseFacts): CauseRule {
  const found = BY_CODE.get(code) ?? productRuleOf(code, status);
  return found ?? ruleOf({ status, headers: {}, body, isSigned: true, words: responseWords(body) });
}
