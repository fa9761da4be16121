import { hedged } from '../../confidence.ts';
import type { CauseFacts, ResponseCause } from '../../transport/cause.ts';
import { filledTemplate } from './cause-rule.ts';
import { ruleOf } from './cause-rules.ts';
import { RECEIVER_RULES } from './receiver-rules.ts';
import { EXCEPTION, responseWords } from './response-words.ts';

/** Maximum number of lines of one error to read. Python tracebacks, whose message comes last, are usually shorter. */
const MOST_LINES = 80;

const ERRORS = RECEIVER_RULES.filter(({ status = [500] }) => status.includes(500));
const LEVEL = /\b(?:warn(?:ing)?|err(?:or)?|fatal|critical|severe)\b|Warning: |"level":\s*[456]0\b/i;
const NEGATION =
  /\b(?:no|not|never|cannot|can't|unable|without|missing|invalid|unknown|unexpected|mismatch|must|required|expected|fail\w*|denied|reject\w*|refused|wrong|too)\b/i;
const TIME =
  /\[?(?:[A-Z][a-z]{2} )?(?:[A-Z][a-z]{2} +\d\d?|\d{4}[-/]\d\d[-/]\d\d|\d\d?\/[A-Z][a-z]{2}\/\d{4})[T :]+\d\d:\d\d:\d\d[\d.,Z]*(?: ?[-+]\d\d:?\d\d| \d{4})?\]?:? */;
/** Matches parts of a log line that do not explain an error: level, method and path, version or address, duration. */
const COMMON =
  /\b(?:debug|info|warn(?:ing)?|error|critical):?(?:[\w.]+:)?|"?\b(?:POST|OPTIONS):? \/\S*(?: HTTP\/[\d.]+)?|\b\d+(?:\.\d+)+(?::\d+)?\b|\b\d+ ?(?:ms|s)\b/gi;

/** Score of a line that shows an exception, or that matches the `words` of one of the rules in ERRORS. */
const CERTAIN = 4;

/**
 * Finds the line of a receiver's output that explains a failure best: a line with an exception or a known error, else
 * with the level of a warning or an error, else with the status of the response, else with a negation such as
 * "invalid". Undefined without such a line; for a 4xx, if the line only reports a wrong signature, which receivers log
 * each time; for a status below 400, if the line does not show a known mistake of receivers.
 */
export function causeInOutput(printed: string, facts: CauseFacts): ResponseCause | undefined {
  const lines = printed.split('\n').map((line) => line.replace(TIME, '').trimEnd());
  const scores = lines.map((line) => scoreOf(line, facts.status));
  const score = Math.max(...scores);
  const start = scores.indexOf(score);
  const body = textAt(lines, start, score);
  const words = responseWords(body);
  const ruleAt = (status: number) => ruleOf({ status, headers: {}, body, isSigned: true, words });
  const failed = ruleAt(500);
  const isOfReceiver = failed.kind === 'receiver' && failed.code !== 'exception';
  const isRejected = facts.status >= 400 && facts.status < 500 && !isOfReceiver;
  const { code, kind, says, fix } = isRejected ? ruleAt(facts.status) : failed;
  const isIrrelevant = isRejected ? code === 'signature-invalid-there' : facts.status < 500 && !isOfReceiver;
  if (score === 0 || isIrrelevant) return undefined;
  const filled = (template: string): string => filledTemplate(template, facts);
  const meaning = says === undefined ? '' : `; ${hedged(filled(says), 'likely')}`;
  return {
    code: code === 'own-words' ? 'output-words' : code,
    kind: score === CERTAIN && !isRejected ? 'receiver' : kind,
    confidence: score === CERTAIN ? 'proved' : 'likely',
    says: `its output says: "${words.quotation}"${meaning}`,
    isQuotation: true,
    fix: filled(fix),
  };
}

function textAt(lines: readonly string[], start: number, score: number): string {
  const end = lines.findIndex((line, at) => at > start && score !== CERTAIN && !/^\s/.test(line));
  return lines
    .slice(start, end === -1 ? start + MOST_LINES : end)
    .join('\n')
    .trim();
}

function scoreOf(line: string, status: number): number {
  const isOfError = EXCEPTION.test(line.trimStart()) || ERRORS.some(({ words }) => words?.test(line));
  if (isOfError || line.includes('Traceback (most recent call last)')) return CERTAIN;
  const text = line.trim();
  if (!responseWords(text.startsWith('{') ? text : text.replace(COMMON, '')).isTelling) return 0;
  if (LEVEL.test(line)) return 3;
  return new RegExp(String.raw`\b${status}\b`).test(line) ? 2 : Number(NEGATION.test(line));
}
