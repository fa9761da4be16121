import { resolve } from 'node:path';
import type { LoadSecond } from '../../../../../replay/load/load-recorder.ts';
import { Timeline } from '../../../../../replay/load/timeline.ts';
import { openReplacing, type ReplacingFile } from '../../../../../report/replacing-file.ts';
import { rejectOverwrite } from '../../../../../report/reject-overwrite.ts';
import { summaryLines } from '../../../../../report/summary.ts';
import { durationText } from '../../../../attempt-text.ts';
import { fitText } from '../../../../fit-text.ts';
import type { Io } from '../../../../io.ts';
import { jsonLine } from '../../../../json-line.ts';
import { createProgress, type ProgressBar } from '../../../../print/progress.ts';
import type { ReplayOptions } from '../../options.ts';
import { plotLines, plotWidth } from './load-plot.ts';
import { grouped, loadLines, type LoadReplaySummary } from './load-summary.ts';
import type { SearchPoint } from '../max-load.ts';

/** Delay of the sender at which a note is printed. */
const BEHIND_MS = 1_000;
/** Maximum number of points in a chart of the report. */
const REPORT_POINTS = 600;

/**
 * Writes the output of a load: the status line, notes, a JSON line per second (`-o json`), the steps of a search, the
 * summary, and the HTML report (`--report`).
 */
export class LoadOutput {
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #progress: ProgressBar;
  readonly #report: ReplacingFile | undefined;
  readonly #timeline = new Timeline();
  #isBehind = false;
  #errors = 0;

  /**
   * Opens the report, if there is one, before anything is sent. Throws InputError if it cannot be written or is an
   * input.
   */
  static async open(options: ReplayOptions, inputs: readonly string[], io: Io): Promise<LoadOutput> {
    const { report: name } = options;
    if (name === undefined) return new LoadOutput(options, io, undefined);
    const path = resolve(io.cwd, name);
    await rejectOverwrite(inputs, { path, name, flag: '--report' });
    return new LoadOutput(options, io, await openReplacing(path, name));
  }

  private constructor(options: ReplayOptions, io: Io, report: ReplacingFile | undefined) {
    this.#options = options;
    this.#io = io;
    this.#report = report;
    this.#progress = createProgress(io, { label: 'load', shown: true });
    this.#progress.say('sending');
  }

  note(line: string): void {
    this.#progress.line(line);
  }

  /**
   * Shows one second of the load in the status line and, with `-o json` unless `-q` is given, as a line of JSON. Prints
   * a note when the sender falls behind. `target` is the rate of a search step.
   */
  second(second: LoadSecond, inFlight: number, target?: number): void {
    const { p50, p99 } = second.latencyMs;
    const times = p50 === null || p99 === null ? '' : `, p50 ${durationText(p50)}, p99 ${durationText(p99)}`;
    this.#errors += second.errors;
    this.#progress.say(`${second.rate}/s, ${inFlight} in flight${times}, ${grouped(this.#errors)} errors`);
    this.#timeline.add(second);
    if (this.#isJson && this.#options.quiet !== true) {
      this.#io.out(jsonLine(target === undefined ? second : { ...second, target }));
      this.#io.flush();
    }
    const isBehind = second.behindMs >= BEHIND_MS;
    if (isBehind && !this.#isBehind) {
      this.note(`note: behind by ${durationText(second.behindMs)} in second ${second.second}`);
    }
    this.#isBehind = isBehind;
  }

  step({ rate, result }: SearchPoint): void {
    if (!this.#isJson && this.#options.quiet !== true) this.note(`${rate}/s ${result}`);
  }

  invalid(sentence: string): void {
    this.note(`${this.#io.errColor.red('invalid:')} ${sentence}`);
  }

  async finish(summary: LoadReplaySummary): Promise<void> {
    this.#progress.stop();
    const { load } = summary;
    if (this.#isJson) this.#io.out(jsonLine({ summary }));
    else if (this.#options.quiet !== true || load.verdict !== 'held') {
      const { stdoutColumns: columns, stdoutIsTty } = this.#io;
      const plot = stdoutIsTty ? plotLines(this.#timeline.points(plotWidth(columns ?? 80))) : [];
      const counts = fitText(summaryLines(summary).join('\n'), columns);
      this.#io.out(`${['', ...plot, counts, ...loadLines(summary, this.#io)].join('\n')}\n`);
    }
    if (this.#report === undefined) return;
    const { loadReport } = await import('./load-report.ts');
    const html = loadReport(summary, this.#timeline.points(REPORT_POINTS));
    await this.#report.commit(async (file) => {
      await file.add(Buffer.from(html));
    });
  }

  async abandon(): Promise<void> {
    this.#progress.stop();
    await this.#report?.abandon();
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }
}
