import { noteHint } from '../error-text.ts';
import { formatDuration } from '../../duration.ts';
import type { Unmet } from '../../message/filter.ts';
import type { ExpectationResult } from '../../receiver/arrivals.ts';
import type { Tally } from '../../receiver/expectation.ts';
import type { ConnectionRejection } from '../../receiver/options.ts';
import type { ReceivedRequest } from '../../receiver/received-request.ts';
import { printable } from '../../redact.ts';
import type { ReportedCase } from '../../report/case-report.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../json-line.ts';
import { receivedJson, receivedText } from '../print/received-line.ts';
import { formatRow, formatTable } from '../print/table.ts';
import type { ExpectOptions } from './options.ts';

/** Prints what `hooks expect` receives and finds. */
export class ExpectOutput {
  readonly #options: ExpectOptions;
  readonly #io: Io;

  constructor(options: ExpectOptions, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  show(request: ReceivedRequest): void {
    const { output, quiet, verbose } = this.#options;
    if (quiet) return;
    const withBody = verbose === true;
    this.#io.out(
      output === 'json'
        ? receivedJson(request, { withBody })
        : receivedText(request, { withBody, screen: this.#io }),
    );
  }

  rejected({ status, reason }: ConnectionRejection): void {
    this.#remark(`Rejected${status === undefined ? '' : ` with ${status}`}: ${printable(reason)}`);
  }

  /** Silence would read as a hang. */
  waits(leftMs: number): void {
    this.#remark(
      `COMMAND has ended; waiting up to ${formatDuration(Math.ceil(leftMs / 1_000) * 1_000)} for what is missing`,
    );
  }

  conclude(findings: readonly ExpectationResult[], tally: Tally, ms: number): void {
    const shown = this.#options.quiet ? findings.filter(({ isMet }) => !isMet) : findings;
    if (this.#options.output === 'json') {
      for (const finding of shown) this.#io.out(jsonLine(findingLine(finding)));
      this.#io.out(jsonLine({ summary: expectSummaryOf(findings, tally, ms) }));
    } else {
      for (const finding of shown) this.#io.out(this.#findingText(finding));
      this.#hint(findings, tally);
    }
  }

  #findingText(finding: ExpectationResult): string {
    const { expectation, filter, isMet, said } = finding;
    const { color, stdoutColumns: columns } = this.#io;
    const about = filter === undefined ? '' : `${printable(filter, 200)}: `;
    const head = [
      { text: isMet ? '✓' : '✗', paint: isMet ? color.green : color.red },
      { text: `${expectation.padEnd(9)} ` },
      { text: `${about}${printable(said, 2_000)}` },
    ];
    const indent = ' '.repeat(12);
    const nearest = nearestLines(finding, columns && columns - indent.length);
    return [formatRow(head, { columns, gap: 1 }), ...nearest.map((line) => indent + line), ''].join('\n');
  }

  /** Says what to look at first when nothing came. */
  #hint(findings: readonly ExpectationResult[], { requests }: Tally): void {
    const misses = findings.some(({ expectation, isMet }) => expectation !== 'command' && !isMet);
    if (requests > 0 || !misses || this.#io.signal.aborted) return;
    noteHint(this.#io, 'let COMMAND post to the URL in HOOKS_URL, and wait for the response');
  }

  #remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }
}

export function expectSummaryOf(
  findings: readonly ExpectationResult[],
  { requests, verdicts }: Tally,
  ms: number,
): Readonly<Record<string, unknown>> & { readonly ms: number } {
  const failed = findings.filter(({ isMet }) => !isMet).length;
  return {
    met: failed === 0,
    expectations: findings.length,
    failed,
    requests,
    ...verdicts,
    ms: Math.round(ms),
  };
}

function findingLine({ expectation, filter, isMet, said, nearest }: ExpectationResult): object {
  const differences = nearest?.unmet.map(({ path, isEqual, value, found }) => ({
    path,
    expected: isEqual ? value : { not: value },
    got: found ?? null,
  }));
  const candidate = nearest && { request: nearest.request, differences };
  return { expectation, filter, met: isMet, said, nearest: candidate };
}

/** The values that the nearest request has instead, in columns. */
function nearestLines({ expectation, nearest }: ExpectationResult, columns?: number): string[] {
  if (nearest === undefined) return [];
  const rows = nearest.unmet.map((unmet) => [
    { text: `  ${printable(unmet.path, 80)}` },
    { text: `expected ${expectedText(unmet)}` },
    { text: `got ${foundText(unmet)}` },
  ]);
  const head = `request ${nearest.request} ${expectation === 'each' ? 'is not' : 'comes nearest'}:`;
  return [head, ...formatTable(rows, { columns }).trimEnd().split('\n')];
}

function expectedText({ isEqual, value }: Unmet): string {
  return `${isEqual ? '' : 'other than '}${printable(value, 80)}`;
}

function foundText({ found }: Unmet): string {
  if (found === undefined) return 'nothing';
  return printable(typeof found === 'string' ? found : JSON.stringify(found), 200);
}

export const SUITE = 'hooks expect';

/** A finding as a case of a report. */
export function expectationCase(finding: ExpectationResult): ReportedCase {
  const { expectation, filter, isMet, said } = finding;
  return {
    classname: SUITE,
    name: filter === undefined ? expectation : `${expectation} ${filter}`,
    outcome: isMet ? 'passed' : 'failure',
    ...(!isMet && { message: said, type: expectation, details: nearestLines(finding).join('\n') }),
    line: findingLine(finding),
  };
}
