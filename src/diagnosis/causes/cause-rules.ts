import { APPLICATION_RULES } from './application-rules.ts';
import { appliesTo, type CauseRule, type ReadResponse } from './cause-rule.ts';
import { EDGE_RULES } from './edge-rules.ts';
import { FRAMEWORK_RULES, REWRITTEN_RULE } from './framework-rules.ts';
import { productRule, productRuleOf } from './product-rules.ts';
import { REQUIREMENT_RULES } from './requirement-rules.ts';
import { EXCEPTION } from './response-words.ts';
import { EXCEPTION_THERE, OWN_WORDS, STATUS_RULES, statusRule } from './status-rules.ts';
import { PAGE_RULES, TAKEN_RULES } from './taken-rules.ts';

/** All rules for responses other than 2xx, the most specific first: the first rule that applies decides. */
export const CAUSE_RULES: readonly CauseRule[] = [
  ...EDGE_RULES,
  ...FRAMEWORK_RULES,
  ...REQUIREMENT_RULES,
  ...APPLICATION_RULES,
  ...STATUS_RULES,
];

/** Codes of the rules that only guess from the status: the response's own words, if it has any, explain more. */
const GUESSES: ReadonlySet<string> = new Set([
  'signature-refused',
  'malformed',
  'conflict',
  'failed',
  'status',
]);

/** Finds the rule of a response other than 2xx. Every such response has one. */
export function ruleOf(seen: ReadResponse): CauseRule {
  const { status, words } = seen;
  const specific = EDGE_RULES.find((rule) => appliesTo(rule, seen)) ?? productRule(seen);
  const rule = specific ?? CAUSE_RULES.find((each) => appliesTo(each, seen)) ?? statusRule(status);
  if (!GUESSES.has(rule.code) || !words.isTelling) return rule;
  return status >= 500 && EXCEPTION.test(words.quotation) ? EXCEPTION_THERE : OWN_WORDS;
}

/** Returns the rule of a stored code. The code of another version gets the rule of its first word, else of the status. */
export function storedRule(code: string, status: number): CauseRule {
  const general = code.replace(/-.*/, '');
  return BY_CODE.get(code) ?? productRuleOf(code, status) ?? BY_CODE.get(general) ?? generalRule(status);
}

function generalRule(status: number): CauseRule {
  const plain = STATUS_RULES.find(
    ({ status: own, headers, words, isSigned }) =>
      own?.includes(status) && headers === undefined && words === undefined && isSigned !== false,
  );
  return plain ?? statusRule(status);
}

const ALL_RULES = [...CAUSE_RULES, REWRITTEN_RULE, OWN_WORDS, EXCEPTION_THERE, ...TAKEN_RULES, ...PAGE_RULES];
const BY_CODE: ReadonlyMap<string, CauseRule> = new Map(ALL_RULES.map((rule) => [rule.code, rule]));
