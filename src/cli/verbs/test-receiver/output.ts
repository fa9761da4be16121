import type { CheckResult, ReceiverMistake } from '../../../check/check.ts';
import { printable } from '../../../redact.ts';
import type { Io } from '../../io.ts';
import { noteError } from '../../error-text.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import type { TestOptions } from './options.ts';
import { summaryText, type CheckSummary } from './outcome.ts';
import {
  alikeText,
  checkFields,
  checkText,
  diagnosisFields,
  runVerdictText,
  unsentText,
} from './result-text.ts';

/** Prints the results of `hooks test`, as text or JSON. */
export class TestOutput {
  readonly #options: Pick<TestOptions, 'output' | 'quiet'>;
  readonly #io: Io;
  readonly #unsent: CheckResult[] = [];
  /** Failures whose mistake was already printed. They are printed on one line when another result follows. */
  readonly #alike: CheckResult[] = [];
  /** The results with whose mistakes a fix was printed, by the sentence about the mistake. */
  readonly #explained = new Map<string, CheckResult>();

  constructor(options: Pick<TestOptions, 'output' | 'quiet'>, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  show(result: CheckResult): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(jsonLine(checkFields(result)));
    else if (result.outcome === 'unsent') this.#unsent.push(result);
    else if (!quiet || result.outcome === 'failed') this.#printResult(result);
  }

  /** Prints a result, after the failures before it that have the same mistake. */
  #printResult(result: CheckResult): void {
    const isKnown = this.#isKnown(result);
    const [first] = this.#alike;
    if (!isKnown || (first !== undefined && first.mistake?.says !== result.mistake?.says)) this.#printAlike();
    if (isKnown) this.#alike.push(result);
    else this.#print(checkText(result, this.#io, { isKnown }));
  }

  /** Prints text for people, whose commands can be typed. */
  #print(text: string): void {
    this.#io.out(this.#io.named(text));
  }

  #printAlike(): void {
    const alike = this.#alike.splice(0);
    const above = this.#explained.get(alike[0]?.mistake?.says ?? '');
    this.#print(alikeText(alike, this.#io, above));
  }

  #isKnown(result: CheckResult): boolean {
    const { mistake } = result;
    if (mistake === undefined) return false;
    const isKnown = this.#explained.has(mistake.says);
    if (!isKnown) this.#explained.set(mistake.says, result);
    return isKnown;
  }

  /** @param verdict the mistake that all results together show, if any */
  end(summary: CheckSummary, verdict: ReceiverMistake | undefined): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(jsonLine({ summary: { ...summary, ...diagnosisFields(verdict) } }));
    else {
      this.#printAlike();
      this.#print(unsentText(this.#unsent, this.#io));
      const isNews = verdict !== undefined && !this.#explained.has(verdict.says);
      if (isNews) this.#print(runVerdictText(verdict, this.#io));
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
}
