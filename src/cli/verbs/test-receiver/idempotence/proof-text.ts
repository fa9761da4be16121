import type { ReceiverMistake } from '../../../../check/check.ts';
import {
  compareStates,
  type Counterexample,
  type ProofResult,
  type ScheduleCode,
  type ShownRequest,
} from '../../../../idempotence/prove.ts';
import { printable } from '../../../../redact.ts';
import { durationText } from '../../../attempt-text.ts';
import { fitText } from '../../../fit-text.ts';
import type { Screen } from '../../../io.ts';
import type { Palette } from '../../../palette.ts';
import { formatRow, formatTable, type Cell } from '../../../print/table.ts';
import { diagnosisFields, MARKS } from '../result-text.ts';

/** Width of the longest check code, in columns. */
const CODE_WIDTH = 13;
/** Maximum lines of a state that is shown whole. Of a longer state only the differing lines are shown. */
const FULL_LINES = 6;
const MOST_LINES = 12;
const LINE_CHARACTERS = 300;

/** Formats a result as text. A failure is followed by the mistake, its fix, the requests and the receiver's two states. */
export function proofText(
  result: ProofResult,
  repeat: (check: ScheduleCode) => string,
  screen: Screen,
): string {
  const { check, title, outcome, schedules, ms, reason, mistake, counterexample } = result;
  const { color, stdoutColumns: columns } = screen;
  const [mark, name] = MARKS[outcome];
  const label = outcome === 'skipped' ? 'skipped' : 'not tried';
  const facts = `${schedules} ${schedules === 1 ? 'run' : 'runs'} in ${durationText(ms)}  ${color.dim(title)}`;
  const text = reason === undefined ? facts : color.dim(`${label}: ${printable(reason)}`);
  const cells: Cell[] = [{ text: mark, paint: color[name] }, { text: check, minWidth: CODE_WIDTH }, { text }];
  const head = `${formatRow(cells, { columns, gap: 1 })}\n`;
  if (mistake === undefined || counterexample === undefined) return head;
  const explained = [
    `    ${color.red('wrong:')}  ${printable(mistake.says, 1_000)} ${color.dim(`(${mistake.code})`)}\n`,
    `    ${color.bold('fix:')}    ${printable(mistake.fix, 1_000)}\n`,
  ];
  // The command is not wrapped because a wrapped command cannot be pasted.
  const again = `    ${color.bold('repeat:')} ${repeat(check)}\n`;
  return (
    head + fitText(explained.join(''), columns) + again + counterexampleText(mistake, counterexample, screen)
  );
}

/** Mistakes after which the receiver no longer runs, and so has no state to show. */
export const WITHOUT_STATE: ReadonlySet<string> = new Set(['died', 'dies-on-duplicates', 'does-not-restart']);

/** Mistakes that show in the message ids, so that each request is printed with its id. */
const WITH_IDS: ReadonlySet<string> = new Set(['cuts-ids-off', 'folds-ids']);

/** Formats the requests of a counterexample, and the expected and the actual state of the receiver if they differ. */
export function counterexampleText(
  { code }: Pick<ReceiverMistake, 'code'>,
  counterexample: Counterexample,
  { color, stdoutColumns: columns }: Screen,
): string {
  const { requests } = counterexample;
  const rows = requests.map((request, place): Cell[] => [
    { text: `      ${place + 1}.` },
    { text: `+${Math.max(0, request.atMs)}ms`, align: 'end' },
    { text: printable(request.message) },
    { text: requestText(request) },
    ...(WITH_IDS.has(code) ? [{ text: printable(request.messageId) }] : []),
  ]);
  const { isSame, missing, added } = compareStates(counterexample);
  const changed = [...missing, ...added].join('\n');
  const named = rows.filter((_, place) => changed.includes(requests[place]?.messageId ?? ''));
  const chosen = rows.length > MOST_LINES && named.length > 0 ? named : rows;
  const shown = chosen.slice(0, MOST_LINES);
  const rest = rows.length > shown.length ? `      … and ${rows.length - shown.length} more\n` : '';
  const count = `${requests.length} ${requests.length === 1 ? 'request' : 'requests'}`;
  const requestsText = `    ${count}:\n${formatTable(shown, { columns })}${rest}`;
  // Omits the states if the receiver no longer runs and so has none, and if the expected and the actual state are equal:
  // then the mistake is a wrong response.
  if (WITHOUT_STATE.has(code) || isSame) return requestsText;
  return requestsText + fitText(statesText(counterexample, color), columns);
}

function requestText({ status, error, tries = 1, failedWith, killedAfterMs }: ShownRequest): string {
  const response = status === undefined ? (error === 'cut' ? CUT : (error ?? 'no response')) : String(status);
  const killed =
    killedAfterMs === undefined ? '' : `, receiver killed after ${killedAfterMs}ms and started again`;
  const first = failedWith === undefined ? '' : `${failedWith} first, then `;
  return `${first}${response}${tries > 1 ? `, sent ${tries} times` : ''}${killed}`;
}

const CUT = 'connection cut at the first byte of the response';

function statesText(counterexample: Counterexample, color: Palette): string {
  const { expected, state } = counterexample;
  const isShort = [expected, state].every((text) => text.trimEnd().split('\n').length <= FULL_LINES);
  const { missing, added } = compareStates(counterexample);
  const [must, is] = isShort ? [linesOf(expected), linesOf(state)] : [missing, added];
  const note = isShort ? '' : ', the lines that differ';
  return [
    `    expected state${note}:\n`,
    ...shownLines(must, '-', color.green),
    `    actual state${note}:\n`,
    ...shownLines(is, '+', color.red),
  ].join('');
}

function shownLines(lines: readonly string[], mark: string, paint: (text: string) => string): string[] {
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line) => paint(`${mark} ${printable(line, LINE_CHARACTERS)}`));
  if (lines.length > MOST_LINES) shown.push(`… and ${lines.length - MOST_LINES} more`);
  return (shown.length > 0 ? shown : [paint(`${mark} (nothing)`)]).map((line) => `      ${line}\n`);
}

function linesOf(state: string): string[] {
  return state.trimEnd() === '' ? [] : state.trimEnd().split(/\r?\n/);
}

/** Maximum characters of the receiver's state in a line of JSON or a report. */
const MOST_CHARACTERS = 64 * 1024;

/** Returns the fields of a proof's result for a line of `-o json` and for a JSON report. */
export function proofFields({ mistake, counterexample, ...result }: ProofResult, seed: number): object {
  return {
    ...result,
    ...diagnosisFields(mistake),
    ...(counterexample !== undefined && {
      counterexample: {
        seed,
        ...counterexample,
        expected: counterexample.expected.slice(0, MOST_CHARACTERS),
        state: counterexample.state.slice(0, MOST_CHARACTERS),
      },
    }),
  };
}
