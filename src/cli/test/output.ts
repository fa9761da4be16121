import type { CheckResult } from '../../check/check.ts';
import { printable } from '../../redact.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../print/json-line.ts';
import type { TestOptions } from './options.ts';
import { summaryText, type CheckSummary } from './outcome.ts';
import { checkJson, checkText } from './result-text.ts';

/** What a person or a program sees of a test. */
export class TestOutput {
  readonly #options: Pick<TestOptions, 'output' | 'quiet'>;
  readonly #io: Io;
  readonly #unsent: CheckResult[] = [];
  /** What was said to be wrong. */
  readonly #said = new Set<string>();

  constructor(options: Pick<TestOptions, 'output' | 'quiet'>, io: Io) {
    this.#options = options;
    this.#io = io;
  }

  show(result: CheckResult): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(checkJson(result));
    else if (result.outcome === 'unsent') this.#unsent.push(result);
    else if (!quiet || result.outcome === 'failed')
      this.#io.out(checkText(result, { color: this.#io.color, isKnown: this.#isKnown(result) }));
  }

  #isKnown({ fault }: CheckResult): boolean {
    if (fault === undefined) return false;
    const isKnown = this.#said.has(fault.says);
    this.#said.add(fault.says);
    return isKnown;
  }

  end(summary: CheckSummary): void {
    const { output, quiet } = this.#options;
    if (output === 'json') this.#io.out(jsonLine({ summary }));
    else {
      this.#showUnsent();
      if (!quiet) this.#io.out(`\n${summaryText(summary)}\n`);
    }
  }

  error(sentence: string, hint: string): void {
    const { errColor } = this.#io;
    this.#io.note(`${errColor.red('error:')} ${printable(sentence, 1_000)}`);
    this.#io.note(`${errColor.dim('hint: ')} ${hint}`);
  }

  /** A line that nobody needs. */
  remark(line: string): void {
    if (this.#options.quiet !== true) this.#io.note(this.#io.errColor.dim(line));
  }

  /** In one line: they share their reason. */
  #showUnsent(): void {
    const [first] = this.#unsent;
    if (first === undefined) return;
    const codes = this.#unsent.map(({ check }) => check).join(', ');
    this.#io.out(
      `${this.#io.color.yellow('·')} not tried: ${codes}\n    why:   ${printable(first.reason ?? '')}\n`,
    );
  }
}
