import { APPLICATION_RULES } from './application-rules.ts';
import { appliesTo, type CauseRule, type ReadResponse } from './cause-rule.ts';
import { EDGE_RULES } from './edge-rules.ts';
import { FRAMEWORK_RULES, REWRITTEN_RULE } from './framework-rules.ts';
import { productRule, productRuleOf, SOME_PROXY } from './product-rules.ts';
import { REQUIREMENT_RULES } from './requirement-rules.ts';
import { EXCEPTION, responseWords } from './response-words.ts';
import { EXCEPTION_THERE, FAILURE_WORDS, OWN_WORDS, STATUS_RULES, statusRule } from './status-rules.ts';
import { PAGE_RULES, TAKEN_RULES } from './taken-rules.ts';

const WORD_RULES = [...FRAMEWORK_RULES, ...REQUIREMENT_RULES, ...APPLICATION_RULES, ...STATUS_RULES];
/** All rules for responses other than 2xx, the most specific first: the first rule that applies decides. */
export const CAUSE_RULES: readonly CauseRule[] = [...EDGE_RULES, ...WORD_RULES];

/** Codes of the rules that only guess from the status: the response's own words, if it has any, explain more. */
const GUESSES: ReadonlySet<string> = new Set(['signature-refused', 'malformed', 'status', 'status-409']);

/** Finds the rule of a response other than 2xx. Every such response has one. */
export function ruleOf(seen: ReadResponse): CauseRule {
  const { status, words } = seen;
  const find = (rules: readonly CauseRule[]): CauseRule | undefined =>
    rules.find((rule) => appliesTo(rule, seen));
  const someProxy = productRuleOf(SOME_PROXY[status] ?? '', status);
  const rule = find(EDGE_RULES) ?? productRule(seen) ?? find(WORD_RULES) ?? someProxy ?? statusRule(status);
  if (!GUESSES.has(rule.code) || !words.isTelling) return rule;
  if (status < 500) return OWN_WORDS;
  return EXCEPTION.test(words.quotation) ? EXCEPTION_THERE : FAILURE_WORDS;
}

/** Returns the rule of a stored code. The code of another version gets the rule of its first word, else of the status. */
export function storedRule(code: string, status: number): CauseRule {
  const general = BY_CODE.get(code) ?? productRuleOf(code, status) ?? BY_CODE.get(code.replace(/-.*/, ''));
  return general ?? ruleOf({ status, headers: {}, body: '', isSigned: true, words: responseWords('') });
}

const FALLBACKS = [REWRITTEN_RULE, OWN_WORDS, FAILURE_WORDS, EXCEPTION_THERE, ...TAKEN_RULES, ...PAGE_RULES];
const BY_CODE = new Map([...CAUSE_RULES, ...FALLBACKS].map((rule) => [rule.code, rule]));
