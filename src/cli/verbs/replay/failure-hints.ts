import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { printable } from '../../../redact.ts';
import { noteHint } from '../../error-text.ts';
import type { Io } from '../../io.ts';
import { decidingAttemptOf } from '../../print/deciding-attempt.ts';
import type { FailureCause } from '../../print/failure-cause.ts';
import type { RunPatterns } from './../../print/run-patterns.ts';

/** Maximum number of hints to print. They can all be different, if the receiver redirects to another URL each time. */
const MAX_HINTS = 20;

/** Prints how to fix failures. Prints each hint once, because a thousand messages may fail for the same cause. */
export class FailureHints {
  readonly #io: Io;
  readonly #note: (line: string) => void;
  readonly #patterns: RunPatterns;
  readonly #printed = new Set<string>();
  /** The first cause that blames the secret. Printed only in `finish`, because a later delivery can disprove it. */
  #secret: FailureCause | undefined;
  /** The first failure that has no response or that nothing explains. `finish` examines it. */
  #unexplained: Outcome | undefined;

  /** @param note prints a line on stderr, above the progress bar */
  constructor(io: Io, note: (line: string) => void, patterns: RunPatterns) {
    this.#io = io;
    this.#note = note;
    this.#patterns = patterns;
  }

  tell(outcome: Outcome, cause: FailureCause | undefined): void {
    const { hint, code, says } = cause ?? {};
    const isUnexplained = decidingAttemptOf(outcome)?.status === undefined || says === undefined;
    if (outcome.outcome === 'failed' && isUnexplained) this.#unexplained ??= outcome;
    if (code === 'signature-refused') this.#secret ??= cause;
    // Skips the hint about refused connections after a crash: the summary names the message that crashed the receiver.
    else if (code !== 'refused' || !this.#patterns.hasCrashed) this.#print(hint);
    for (const [url, other] of cause?.others ?? []) this.#print(`${url}: ${other.hint}`);
  }

  #print(hint: string | undefined): void {
    if (hint === undefined || this.#printed.has(hint) || this.#printed.size >= MAX_HINTS) return;
    this.#printed.add(hint);
    noteHint({ note: this.#note, errColor: this.#io.errColor }, printable(hint, 1_000));
  }

  /**
   * Prints the hints that depend on all outcomes. Examines the first unexplained failure with probes of the receiver, and
   * prints its cause if they find it.
   */
  async finish(): Promise<void> {
    this.#print(this.#patterns.corrected(this.#secret)?.hint);
    if (this.#unexplained === undefined || this.#patterns.hasCrashed) return;
    const { examinedOutcome } = await import('../../print/examined-outcome.ts');
    const examined = await examinedOutcome(this.#unexplained, this.#io);
    if (examined === this.#unexplained) return;
    const { failureCause } = await import('../../print/failure-cause.ts');
    const cause = failureCause(examined);
    if (cause?.says !== undefined) this.#io.note(`cause: ${printable(cause.says, 1_000)}`);
    this.tell(examined, cause);
  }
}
