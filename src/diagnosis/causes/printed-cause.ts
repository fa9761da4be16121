import { hedged } from '../../confidence.ts';
import type { CauseFacts, ResponseCause } from '../../transport/cause.ts';
import { filledTemplate } from './cause-rule.ts';
import { ruleOf } from './cause-rules.ts';
import { RECEIVER_RULES } from './receiver-rules.ts';
import { EXCEPTION, responseWords } from './response-words.ts';

/** Most lines of output to read after the first line of an error: more than a stack trace has before its message. */
const MOST_LINES = 80;

const ERRORS = RECEIVER_RULES.filter(({ status = [500] }) => status.includes(500));

/**
 * Finds the error in what a receiver printed while it handled a request. Undefined if it printed none, or none that can be the
 * reason of a rejection: receivers print each signature that they reject.
 */
export function causeInOutput(printed: string, facts: CauseFacts): ResponseCause | undefined {
  const lines = printed.split('\n');
  const start = lines.findIndex(isOfError);
  if (start === -1) return undefined;
  const body = lines.slice(start, start + MOST_LINES).join('\n');
  const words = responseWords(body);
  const { code, kind, says, fix } = ruleOf({ status: 500, headers: {}, body, isSigned: true, words });
  const isOfReceiver = kind === 'receiver' && code !== 'exception';
  if (facts.status < 500 && !isOfReceiver) return undefined;
  const filled = (template: string): string => filledTemplate(template, facts);
  const meaning = says === undefined ? '' : `; ${hedged(filled(says), 'likely')}`;
  return {
    code,
    kind: 'receiver',
    confidence: 'proved',
    says: `its output says: "${words.quotation}"${meaning}`,
    isQuotation: true,
    fix: filled(fix),
  };
}

function isOfError(line: string): boolean {
  return (
    EXCEPTION.test(line) ||
    line.includes('Traceback (most recent call last)') ||
    ERRORS.some(({ words }) => words?.test(line))
  );
}
