import type { CheckResult, ReceiverMistake } from '../../../check/check.ts';
import { printable } from '../../../redact.ts';
import type { Io } from '../../io.ts';
import { noteError } from '../../error-text.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import type { TestOptions } from './options.ts';
import { summaryText, type CheckSummary } from './outcome.ts';
import { checkFields, checkText, diagnosisFields, runVerdictText } from './result-text.ts';

/** Prints the results of a test for a person or a program. */
export class TestOutput {
  readonly #options: Pick<TestOptions, 'output' | 'quiet'>;
  readonly #io: Io;
  readonly #unsent: CheckResult[] = [];
  /** Mistakes that were explained already. */
  readonly #explained = new Set<string>();

  constructor(options: Pick<TestOptions, 'output' | 'quiet'>, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  show(result: CheckResult): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(jsonLine(checkFields(result)));
    else if (result.outcome === 'unsent') this.#unsent.push(result);
    else if (!quiet || result.outcome === 'failed') {
      this.#io.out(checkText(result, { screen: this.#io, isKnown: this.#isKnown(result) }));
    }
  }

  #isKnown({ mistake }: CheckResult): boolean {
    if (mistake === undefined) return false;
    const isKnown = this.#explained.has(mistake.says);
    this.#explained.add(mistake.says);
    return isKnown;
  }

  /** @param verdict what all results together say */
  end(summary: CheckSummary, verdict: ReceiverMistake | undefined): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(jsonLine({ summary: { ...summary, ...diagnosisFields(verdict) } }));
    else {
      this.#showUnsent();
      const isNews = verdict !== undefined && !this.#explained.has(verdict.says);
      if (isNews) this.#io.out(runVerdictText(verdict, this.#io));
      if (!quiet) this.#io.out(fitText(`\n${summaryText(summary)}\n`, this.#io.stdoutColumns));
    }
  }

  error(sentence: string, hint: string): void {
    noteError(this.#io, printable(sentence, 1_000), hint);
  }

  /** Prints a line that `-q` leaves out. */
  remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }

  /** Prints the checks that were not tried in one line for each reason. */
  #showUnsent(): void {
    for (const reason of new Set(this.#unsent.map((result) => result.reason ?? ''))) {
      const unsent = this.#unsent.filter((result) => (result.reason ?? '') === reason);
      const codes = unsent.map(({ check }) => check).join(', ');
      const text = `${this.#io.color.yellow('·')} not tried: ${codes}\n    why:   ${printable(reason)}\n`;
      this.#io.out(fitText(text, this.#io.stdoutColumns));
    }
  }
}
