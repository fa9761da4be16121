import { proofTitle, type ProofResult, type ScheduleCode } from '../../../../idempotence/prove.ts';
import type { ReportedCase } from '../../../../report/case-report.ts';
import { fitText } from '../../../fit-text.ts';
import type { Io } from '../../../io.ts';
import { jsonLine } from '../../../json-line.ts';
import { PLAIN_PALETTE } from '../../../palette.ts';
import { createProgress, ProgressFigures, type ProgressBar } from '../../../print/progress.ts';
import type { TestOptions } from '../options.ts';
import { reportedCase, summaryText, type CheckSummary } from '../outcome.ts';
import { unsentText } from '../result-text.ts';
import { counterexampleText, proofFields, proofText } from './proof-text.ts';

interface ProofOutputOptions {
  readonly options: Pick<TestOptions, 'output' | 'quiet'>;
  readonly seed: number;
  /** The receiver's URL without secrets. */
  readonly shownUrl: string;
  /** Returns the command line that runs a check again. */
  readonly repeat: (check: ScheduleCode) => string;
  readonly io: Io;
}

const REFERENCE = 'sending each message once: the reference';
/** Minimum time between two lines of progress. */
const REMARK_MS = 20_000;

/** Prints the progress and the results of `hooks test --state`, as text or JSON. */
export class ProofOutput {
  readonly #context: ProofOutputOptions;
  readonly #results: ProofResult[] = [];
  #progress: ProgressBar | undefined;
  #figures: ProgressFigures | undefined;
  #remarkedAt: number | undefined;
  readonly #begun = new Set<ScheduleCode>();

  constructor(context: ProofOutputOptions) {
    this.#context = context;
  }

  get results(): readonly ProofResult[] {
    return this.#results;
  }

  startProgress(): void {
    const { options, io } = this.#context;
    const shown = options.output !== 'json' && options.quiet !== true;
    this.#progress = createProgress(io, { label: 'schedules', shown });
    this.#progress.say(REFERENCE);
    if (this.#isWithoutBar) this.remark(REFERENCE);
  }

  readonly progress = (done: number, total: number, check?: ScheduleCode): void => {
    this.#progress?.update(done, total, check);
    if (this.#isWithoutBar) this.#remarkProgress(done, total, check);
  };

  get #isWithoutBar(): boolean {
    const { options, io } = this.#context;
    return options.output !== 'json' && !io.stderrIsTty;
  }

  /** Prints progress where no bar is drawn: a line when a check starts, and a line every `REMARK_MS`. */
  #remarkProgress(done: number, total: number, check: ScheduleCode | undefined): void {
    if (check !== undefined && !this.#begun.has(check)) {
      this.#begun.add(check);
      this.remark(`schedule ${done + 1} of ${total}, ${check}: ${proofTitle(check)}`);
    }
    const now = performance.now();
    this.#figures ??= new ProgressFigures(now);
    this.#figures.update({ done, total, now });
    this.#remarkedAt ??= now;
    const isDue = done > 0 && done < total && now - this.#remarkedAt >= REMARK_MS;
    if (!isDue) return;
    this.#remarkedAt = now;
    this.remark(`schedules ${this.#figures.text('schedules', now)}`);
  }

  readonly progressOfShrinking = (): void => {
    this.#progress?.say('wrong state: looking for the fewest requests that cause it');
  };

  stopProgress(): void {
    this.#progress?.stop();
    this.#progress = undefined;
  }

  readonly show = (result: ProofResult): void => {
    const { options, repeat, io } = this.#context;
    this.#results.push(result);
    if (options.output === 'json') return io.out(jsonLine(this.#fieldsOf(result)));
    if (result.outcome === 'unsent') return;
    if (options.quiet === true && result.outcome !== 'failed') return;
    this.#progress?.clear();
    io.out(io.named(proofText(result, repeat, io)));
  };

  /** Prints a line that `-q` leaves out. */
  remark(line: string): void {
    const { options, io } = this.#context;
    if (options.quiet === true) return;
    const print = this.#progress?.line ?? io.note;
    print(io.errColor.dim(line));
  }

  /** Prints a line of the receiver's output above the progress bar. */
  readonly line = (text: string): void => {
    this.#progress?.clear();
    this.#context.io.verbatim.note(text);
  };

  end(summary: CheckSummary): void {
    const { options, seed, io } = this.#context;
    if (options.output === 'json') return io.out(jsonLine({ summary: { ...summary, seed } }));
    io.out(unsentText(this.#results, io));
    if (options.quiet === true) return;
    io.out(fitText(`\n${summaryText(summary)}; seed ${seed}\n`, io.stdoutColumns));
  }

  caseOf(result: ProofResult): ReportedCase {
    const { shownUrl, repeat } = this.#context;
    const { check, mistake, reason, counterexample } = result;
    const details = [
      mistake && `repeat: ${repeat(check)}`,
      mistake && counterexample && counterexampleText(mistake, counterexample, PLAIN_SCREEN),
    ];
    const about = { message: reason ?? mistake?.says, details, line: this.#fieldsOf(result) };
    return reportedCase(result, shownUrl, about);
  }

  #fieldsOf(result: ProofResult): object {
    const { seed, repeat } = this.#context;
    return { ...proofFields(result, seed), ...(result.mistake && { repeat: repeat(result.check) }) };
  }
}

const PLAIN_SCREEN = { color: PLAIN_PALETTE, stdoutColumns: undefined };
