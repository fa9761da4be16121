import { STATUS_CODES } from 'node:http';
import type { CheckOutcome, CheckResult, ReceiverMistake } from '../../../check/check.ts';
import { EXPECTED_STATUS } from '../../../check/judge-responses.ts';
import { hedged } from '../../../confidence.ts';
import { quotationOf } from '../../../diagnosis/explain.ts';
import { printable } from '../../../redact.ts';
import { durationText, responderText } from '../../attempt-text.ts';
import { fitText } from '../../fit-text.ts';
import type { Screen } from '../../io.ts';
import type { Palette } from '../../palette.ts';
import { formatRow } from '../../print/table.ts';

export const MARKS: Readonly<
  Record<CheckOutcome, readonly [mark: string, color: 'green' | 'red' | 'dim' | 'yellow']>
> = {
  passed: ['✓', 'green'],
  failed: ['✗', 'red'],
  skipped: ['-', 'dim'],
  unsent: ['·', 'yellow'],
};

/** Width of the longest check code, in columns. */
const CODE_WIDTH = 17;

/**
 * Formats the result of a check as text. A failure is followed by the mistake and its fix, unless they were printed before.
 */
export function checkText(
  result: CheckResult,
  { color, stdoutColumns: columns }: Screen,
  { isKnown }: { readonly isKnown: boolean },
): string {
  const { check, title, outcome, mistake, advice, reply, server, reason } = result;
  const line = (text: string): string => {
    const [mark, name] = MARKS[outcome];
    const cells = [{ text: mark, paint: color[name] }, { text: check, minWidth: CODE_WIDTH }, { text }];
    return `${formatRow(cells, { columns, gap: 1 })}\n`;
  };
  if (reason !== undefined) {
    return line(color.dim(`${outcome === 'skipped' ? 'skipped' : 'not tried'}: ${reason}`));
  }
  const facts = factsText(result);
  if (isKnown) return line(`${facts}  ${color.dim(`(${mistake?.code}, as above)`)}`);
  const head = line(`${facts}  ${color.dim(printable(title))}`);
  if (advice !== undefined) return head + fitText(adviceText(advice, color), columns);
  if (mistake === undefined) return head;
  const quotation = quotationOf(reply ?? '');
  const responder = responderText(server, `${mistake.says} ${quotation}`, result.status === 200 && !reply);
  const below = [
    `    ${color.red('wrong:')} ${printable(mistakeSentence(mistake), 1_000)} ${color.dim(`(${mistake.code})`)}\n`,
    fixLine(mistake, color),
    quotation === '' || mistake.says.includes(quotation)
      ? ''
      : `    response: ${printable(quotation, 300)}\n`,
    responder === undefined ? '' : `    ${responder}\n`,
  ];
  return head + fitText(below.join(''), columns);
}

/**
 * Formats checks that failed because of a mistake that was printed before, with `above`: several on one line,
 * `✗ screen, track: 401 …`. Names each response if not all are like that of `above`.
 */
export function alikeText(
  results: readonly CheckResult[],
  screen: Screen,
  above: CheckResult | undefined,
): string {
  const [first, ...others] = results;
  if (first === undefined) return '';
  if (others.length === 0) return checkText(first, screen, { isKnown: true });
  const { color, stdoutColumns: columns } = screen;
  const checks = new Map<string, string[]>();
  for (const each of results) {
    const response = responseText(each);
    checks.set(response, [...(checks.get(response) ?? []), each.check]);
  }
  const isLikeAbove = checks.size === 1 && above !== undefined && checks.has(responseText(above));
  const status = isLikeAbove ? `: ${first.status ?? first.error ?? 'no response'}` : '';
  const head = `${color.red('✗')} ${results.length} more checks${status}  ${color.dim(`(${first.mistake?.code}, as above)`)}\n`;
  const groups = [...checks].map(([response, codes]) => {
    return `    ${isLikeAbove ? '' : `${response}: `}${codes.join(', ')}\n`;
  });
  return fitText(head + groups.join(''), columns);
}

/** The response to a check: its status, and the words of its body. */
function responseText({ status, error, reply = '' }: CheckResult): string {
  const words = printable(quotationOf(reply), 80);
  const code = String(status ?? error ?? 'no response');
  return words === '' || words === STATUS_CODES[status ?? 0] ? code : `${code} "${words}"`;
}

function adviceText(advice: ReceiverMistake, color: Palette): string {
  const note = `    ${color.yellow('note:')}  ${printable(advice.says, 1_000)} ${color.dim(`(${advice.code})`)}\n`;
  return note + fixLine(advice, color);
}

function fixLine({ fix }: ReceiverMistake, color: Palette): string {
  return `    ${color.bold('fix:')}   ${printable(fix, 1_000)}\n`;
}

/** Formats the response, such as `200 in 3ms` or `500 in 4ms, expected 4xx`. */
function factsText({ status, error, ms = 0, expected, outcome }: CheckResult): string {
  const got = status === undefined ? (error ?? 'no response') : String(status);
  const wanted =
    outcome === 'failed' && expected !== undefined ? `, expected ${EXPECTED_STATUS[expected]}` : '';
  return `${got} in ${durationText(ms)}${wanted}`;
}

/** Formats the checks that were not tried, grouped by reason. Ignores the other results. */
export function unsentText(
  results: readonly Pick<CheckResult, 'check' | 'outcome' | 'reason'>[],
  { color, stdoutColumns }: Screen,
): string {
  const unsent = results.filter(({ outcome }) => outcome === 'unsent');
  const texts = [...new Set(unsent.map(({ reason = '' }) => reason))].map((reason) => {
    const codes = unsent
      .filter((result) => (result.reason ?? '') === reason)
      .map(({ check }) => check)
      .join(', ');
    return `${color.yellow('·')} not tried: ${codes}\n    why:   ${printable(reason)}\n`;
  });
  return fitText(texts.join(''), stdoutColumns);
}

/** Returns the fields of a check's result for a line of `-o json` and for a JSON report. */
export function checkFields({ expected, mistake, advice, reply, ...result }: CheckResult): object {
  return {
    ...result,
    ...(expected !== undefined && { expected: EXPECTED_STATUS[expected] }),
    // Drops half of a surrogate pair that the limit cuts in two.
    ...(reply !== undefined && { reply: reply.slice(0, 200).replace(/[\uD800-\uDBFF]$/, '') }),
    ...diagnosisFields(mistake),
    ...(advice !== undefined && { note: mistakeFields(advice) }),
  };
}

export function diagnosisFields(mistake: ReceiverMistake | undefined): object {
  return mistake === undefined ? {} : { diagnosis: mistakeFields(mistake) };
}

function mistakeFields({ code, says, fix, confidence = 'proved' }: ReceiverMistake): object {
  return { code, says, hint: fix, confidence };
}

/** The sentence about a mistake: "probably" stands before one that is not proved. */
function mistakeSentence({ says, confidence = 'proved' }: ReceiverMistake): string {
  return hedged(says, confidence);
}

/** Formats the mistake that all results together show. */
export function runVerdictText(mistake: ReceiverMistake, { color, stdoutColumns }: Screen): string {
  const says = `${color.red('in short:')} ${printable(mistake.says, 1_000)}`;
  return fitText(`\n${says}\n${fixLine(mistake, color)}`, stdoutColumns);
}

/** Formats a wrong response with its mistake, such as `500 Internal Server Error: it fails instead of rejecting`. */
export function mistakeText({ status, error, mistake }: CheckResult): string {
  const got = status === undefined ? (error ?? '') : `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return mistake === undefined ? got : `${got}: ${mistake.says}`;
}
