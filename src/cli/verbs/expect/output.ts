import { noteHint } from '../../error-text.ts';
import { formatDuration } from '../../../duration.ts';
import type { ArrivalCheck, DifferingMessage, ExpectationResult } from '../../../expectation/expectation.ts';
import type { ConnectionRejection } from '../../../receiver/options.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { printable } from '../../../redact.ts';
import type { ReportedCase } from '../../../report/case-report.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { receivedRow } from '../../print/received/received-line.ts';
import { formatRow, formatTable } from '../../print/table.ts';
import type { ExpectOptions } from './options.ts';

type ArrivalCounts = Pick<ArrivalCheck, 'tally' | 'messages' | 'preflights'>;

/** Prints the requests and the results of `hooks expect`. */
export class ExpectOutput {
  readonly #options: ExpectOptions;
  readonly #io: Io;
  readonly #command: readonly string[];

  constructor(options: ExpectOptions, io: Io, command: readonly string[]) {
    this.#command = command;
    this.#options = options;
    this.#io = io;
  }

  show(request: ReceivedRequest): void {
    const { output, quiet, verbose: withBody = false } = this.#options;
    if (!quiet) this.#io.out(receivedRow(request, { output, withBody, screen: this.#io }));
  }

  rejected({ status, reason }: ConnectionRejection): void {
    this.#remark(`Rejected${status === undefined ? '' : ` with ${status}`}: ${printable(reason)}`);
  }

  /** Prints that the command still waits for requests, so that it does not seem to hang. */
  waits(leftMs: number): void {
    const time = formatDuration(Math.max(0, leftMs));
    this.#remark(`COMMAND has ended; waiting until no connection has been open for ${time}`);
  }

  conclude(results: readonly ExpectationResult[], arrivals: ArrivalCounts, ms: number): void {
    const shown = this.#options.quiet ? results.filter(({ isMet }) => !isMet) : results;
    if (this.#options.output === 'json') {
      for (const result of shown) this.#io.out(jsonLine(expectationFields(result)));
      this.#io.out(jsonLine({ summary: expectSummaryOf(results, arrivals, ms) }));
    } else {
      for (const result of shown) this.#io.out(this.#expectationText(result));
      this.#hint(results, arrivals);
    }
  }

  #expectationText(result: ExpectationResult): string {
    const { expectation, filter, isMet, said } = result;
    const { color, stdoutColumns: columns } = this.#io;
    const about = filter === undefined ? '' : `${printable(filter, 200)}: `;
    const head = [
      { text: isMet ? '✓' : '✗', paint: isMet ? color.green : color.red },
      { text: `${expectation.padEnd(9)} ` },
      { text: `${about}${printable(said, 2_000)}` },
    ];
    const indent = ' '.repeat(12);
    const nearest = differenceLines(result, columns && columns - indent.length);
    return [formatRow(head, { columns, gap: 1 }), ...nearest.map((line) => indent + line), ''].join('\n');
  }

  /** Prints a hint if no request arrived. */
  #hint(results: readonly ExpectationResult[], { tally, preflights }: ArrivalCounts): void {
    const misses = results.some(({ expectation, isMet }) => expectation !== 'command' && !isMet);
    if (tally.requests > 0 || !misses || this.#io.signal.aborted) return;
    noteHint(this.#io, noRequestHint(this.#command, preflights));
  }

  #remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }
}

function noRequestHint(command: readonly string[], preflights: number): string {
  if (command.some((word) => /^\$\{?HOOKS_URL\b/.test(word))) {
    return "no shell replaced $HOOKS_URL: let one run the command: -- sh -c 'COMMAND $HOOKS_URL'";
  }
  return preflights === 0
    ? 'let COMMAND post to the URL in HOOKS_URL, and wait for the response; a GET does not count'
    : 'look into the console of the browser: it sent a CORS preflight, but no POST';
}

export function expectSummaryOf(
  results: readonly ExpectationResult[],
  { tally: { requests, verdicts }, messages }: ArrivalCounts,
  ms: number,
): Readonly<Record<string, unknown>> & { readonly ms: number } {
  const failed = results.filter(({ isMet }) => !isMet).length;
  return {
    met: failed === 0,
    expectations: results.length,
    failed,
    requests,
    messages,
    ...verdicts,
    ms: Math.round(ms),
  };
}

function expectationFields(result: ExpectationResult): object {
  const { expectation, filter, isMet, said, nearest, differing } = result;
  return {
    expectation,
    filter,
    met: isMet,
    said,
    nearest: nearest && differingJson(nearest),
    messages: differing?.map(differingJson),
  };
}

function differingJson({ label, request, message, differences }: DifferingMessage): object {
  const found = differences.map(({ path, wanted, found: got = null }) => ({ path, expected: wanted, got }));
  return { request, message, about: request === undefined ? label : undefined, differences: found };
}

/** Formats the messages that do not meet an expectation, each followed by its differences in columns. */
function differenceLines({ expectation, nearest, differing }: ExpectationResult, columns?: number): string[] {
  const comes = expectation === 'each' ? 'does not match' : 'comes nearest';
  if (nearest !== undefined) return messageLines(nearest, comes, columns);
  return (differing ?? []).flatMap((message) => messageLines(message, '', columns));
}

function messageLines({ label, differences }: DifferingMessage, comes: string, columns?: number): string[] {
  const rows = differences.map(({ path, expected, got }) => [
    { text: `  ${printable(path, 120)}` },
    { text: `expected ${printable(expected, 120)}` },
    { text: `got ${printable(got, 200)}` },
  ]);
  const text = [printable(label, 200), comes].filter(Boolean).join(' ') + (rows.length === 0 ? '' : ':');
  const head = formatRow([{ text }], { columns }).split('\n');
  if (rows.length === 0) return head;
  return [...head, ...formatTable(rows, { columns }).trimEnd().split('\n')];
}

export const SUITE = 'hooks expect';

/** Converts a result to a case of a report. The command takes the time of the run; the other results take none. */
export function expectationCase(result: ExpectationResult, runMs: number): ReportedCase {
  const { expectation, filter, isMet, said } = result;
  return {
    classname: SUITE,
    name: filter === undefined ? expectation : `${expectation} ${filter}`,
    outcome: isMet ? 'passed' : 'failure',
    ms: expectation === 'command' ? runMs : 0,
    ...(!isMet && { message: said, type: expectation, details: differenceLines(result).join('\n') }),
    line: expectationFields(result),
  };
}
