import type { ComparedReceiver } from '../../../../app/compare/compared-receiver.ts';
import type { HooksError } from '../../../../errors.ts';
import { printable, withoutRepeated } from '../../../../redact.ts';
import type { Sides } from '../../../../replay/compare/compared-response.ts';
import type { ExpectedTotal } from '../../../../replay/expected-total.ts';
import type { ReplayEntry } from '../../../../replay/reading/replay-entry.ts';
import type { CaseReport, ReportedCase } from '../../../../report/case-report.ts';
import { durationText } from '../../../attempt-text.ts';
import { fitText } from '../../../fit-text.ts';
import type { Io } from '../../../io.ts';
import { jsonLine } from '../../../json-line.ts';
import { createProgress, type ProgressBar } from '../../../print/progress.ts';
import type { Reports } from '../../../print/reports.ts';
import { invalidEntry, invalidLine, invalidSentence, invalidText } from '../invalid-entry.ts';
import {
  reportedDifferences,
  type ComparisonResult,
  type ReportedDifference,
} from './reported-difference.ts';
import type { CompareOptions } from './options.ts';

interface CompareOutputOptions {
  readonly options: CompareOptions;
  readonly receivers: Sides<ComparedReceiver>;
  readonly expected: ExpectedTotal;
  readonly reports: Reports;
  readonly io: Io;
}

const MOST_NOISE = 20;
/** The aspects that are compared. In the report, each aspect without a difference is a passed case. */
const ASPECTS = ['status', 'connection', 'header', 'body', 'latency', 'state'] as const;

/** Prints a comparison, as text or JSON, and writes its report. */
export class CompareOutput {
  /** Number of entries read so far, for the progress bar. */
  done = 0;
  readonly #options: CompareOutputOptions;
  readonly #report: CaseReport | undefined;
  readonly #progress: ProgressBar;
  readonly #invalid: ReportedCase[] = [];
  readonly #startedAt = performance.now();

  /** Opens the report before anything is sent. Throws ConfigError or InputError if it cannot be written. */
  static async open(options: CompareOutputOptions): Promise<CompareOutput> {
    return new CompareOutput(options, await options.reports.openCases());
  }

  private constructor(options: CompareOutputOptions, report: CaseReport | undefined) {
    const { expected, io } = options;
    this.#options = options;
    this.#report = report;
    this.#progress = createProgress(io, {
      label: 'comparing',
      shown: !this.#isJson && options.options.quiet !== true,
      measure: () => ({ done: this.done, total: expected.total }),
    });
  }

  /** Prints an entry that cannot be sent, and adds it to the report. */
  invalid(entry: ReplayEntry, error: HooksError): void {
    const { io } = this.#options;
    const invalid = invalidEntry(entry, error);
    const message = invalidSentence(invalid);
    const about = { message, hint: invalid.hint, origin: entry.origin, line: invalidLine(invalid) };
    if (this.#invalid.length < MAX_INVALID) {
      const name = `invalid message ${entry.origin.file}:${entry.origin.line}`;
      this.#invalid.push({ ...this.#caseOf('failure', 'invalid', name), ...about });
    }
    this.#progress.clear();
    io.out(this.#isJson ? jsonLine(about.line) : `${invalidText(invalid, io)}\n`);
  }

  stop(): void {
    this.#progress.stop();
  }

  /** Prints the differences and the summary, and writes the report. Returns false for any difference or invalid entry. */
  async finish(result: ComparisonResult): Promise<boolean> {
    this.stop();
    const { io, options } = this.#options;
    const differences = reportedDifferences(result, (text) => this.#masked(text));
    const ms = Math.round(performance.now() - this.#startedAt);
    const { compared, invalid, filtered, furtherMessages, noise: paths } = result;
    const isSame = differences.length + furtherMessages + invalid === 0;
    const noise = paths.map((path) => this.#masked(path));
    const summary = { compared, differences: differences.length, invalid, filtered, noise, ms };
    if (this.#isJson) {
      for (const { line } of differences) io.out(jsonLine(line));
      io.out(jsonLine({ summary: { ...summary, ...(furtherMessages > 0 && { furtherMessages }) } }));
    } else {
      for (const difference of differences) this.#print(difference);
      if (furtherMessages > 0) io.out(`and more kinds of differences in ${furtherMessages} messages\n`);
      if (!options.quiet || !isSame) io.out(this.#summaryText(summary));
    }
    await this.#report?.finish(this.#cases(differences), summary);
    return isSame;
  }

  #print({ heading, examples }: ReportedDifference): void {
    const { io } = this.#options;
    const { color, stdoutColumns: columns } = io;
    const lines = examples.map(([label, text]) => `  ${color.dim(label.padEnd(4))} ${text}\n`);
    io.out(fitText(`${color.red('✗')} ${heading}\n${lines.join('')}`, columns));
  }

  #summaryText({ compared, differences, invalid, filtered, noise, ms }: CompareSummary): string {
    const { io } = this.#options;
    const shown = noise.slice(0, MOST_NOISE).join(', ');
    const more = noise.length > MOST_NOISE ? ` and ${noise.length - MOST_NOISE} more` : '';
    const interrupted = io.signal.aborted ? ', interrupted' : '';
    const counts = [
      `${compared.toLocaleString('en-US')} ${compared === 1 ? 'message' : 'messages'} compared`,
      ...(compared > 0 || differences > 0 ? [kindsText(differences)] : []),
      ...(invalid > 0 ? [`${invalid} invalid`] : []),
      ...(filtered > 0 ? [`${filtered} filtered`] : []),
    ];
    const text = `${noise.length === 0 ? '' : `ignored as noise: ${shown}${more}\n`}${counts.join(', ')}, in ${durationText(ms)}${interrupted}\n`;
    return fitText(`\n${text}`, io.stdoutColumns);
  }

  #cases(differences: readonly ReportedDifference[]): readonly ReportedCase[] {
    const failed = differences.map(({ what, heading, examples, origin, line }) => ({
      ...this.#caseOf('failure', what, heading),
      message: heading,
      details: examples.map(([label, text]) => `${label}: ${text}`).join('\n'),
      ...(origin && { origin }),
      line,
    }));
    const same = ASPECTS.filter((aspect) => !differences.some(({ what }) => what === aspect));
    const { options, io } = this.#options;
    // After an interruption, the states are not compared.
    const isStateCompared = options.state !== undefined && !io.signal.aborted;
    const compared = same.filter((aspect) => aspect !== 'state' || isStateCompared);
    const passed = compared.map((aspect) => this.#caseOf('passed', aspect, `same ${aspect}`));
    return [...failed, ...this.#invalid, ...passed];
  }

  #caseOf(outcome: 'passed' | 'failure', type: string, name: string): ReportedCase {
    const { old, new: new_ } = this.#options.receivers;
    const classname = `${old.shownUrl} → ${new_.shownUrl}`;
    return { classname, name, outcome, type, details: '', line: { check: type, outcome } };
  }

  /** Escapes text from a receiver, and masks the secrets in it. */
  #masked(text: string): string {
    const { old, new: new_ } = this.#options.receivers;
    return printable(withoutRepeated(text, [...old.secrets, ...new_.secrets]));
  }

  get #isJson(): boolean {
    return this.#options.options.output === 'json';
  }
}

function kindsText(count: number): string {
  if (count === 0) return 'no differences';
  return count === 1 ? '1 kind of difference' : `${count} kinds of differences`;
}

/** Maximum number of invalid entries in the report. */
const MAX_INVALID = 100;

interface CompareSummary {
  readonly compared: number;
  readonly differences: number;
  readonly invalid: number;
  readonly filtered: number;
  readonly noise: readonly string[];
  readonly ms: number;
}
