import type { HooksError } from '../../errors.ts';
import type { Outcome } from '../../app/pipeline/outcomes.ts';
import type { Checkpoint } from '../../replay/checkpoint/checkpoint.ts';
import type { ReplayEntry, Origin } from '../../replay/reading/replay-entry.ts';
import type { ReplaySummary } from '../../replay/ledger.ts';
import type { KeptResult } from '../../report/result-journal.ts';
import { summaryLines } from '../../report/summary.ts';
import type { Io } from '../io.ts';
import { printable } from '../../redact.ts';
import { noteHint } from '../error-text.ts';
import { fitText } from '../fit-text.ts';
import { jsonLine } from '../json-line.ts';
import type { LoopbackJudgement } from '../flags/delivery/loopback.ts';
import { createProgress, type ProgressBar } from '../print/progress.ts';
import { decidingAttemptOf } from '../print/deciding-attempt.ts';
import { examinedOutcome } from '../print/examined-outcome.ts';
import { failureCause } from '../print/failure-cause.ts';
import { isTaken, resultLine, type ResultFacts } from '../print/result-line.ts';
import { resultText } from '../print/result-text.ts';
import {
  invalidEntry,
  invalidLine,
  invalidText,
  reportedInvalid,
  type InvalidEntry,
} from './invalid-entry.ts';
import type { ReplayOptions } from './options.ts';
import { reportedResult } from './reported-result.ts';
import { ResultFiles } from './result-files.ts';
import type { Numbered, Sent } from './sent-message.ts';

/** The most different hints that are printed: a receiver may redirect to another URL each time. */
const MAX_HINTS = 20;

/** Writes a replay: result lines, progress, the files of results, the summary. */
export class ReplayOutput {
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #files: ResultFiles;
  readonly #progress: ProgressBar;
  readonly #hints = new Set<string>();
  /** The first that got no response: a look at the port may say more. */
  #unanswered: Outcome | undefined;
  #done = 0;

  /** Opens the files before anything is sent. Throws ConfigError or InputError when one cannot be written. */
  static async open(
    options: ReplayOptions,
    { inputs, checkpoint }: ReplaySources,
    io: Io,
  ): Promise<ReplayOutput> {
    const { report, failed } = options;
    const files = await ResultFiles.open({ report, failed, inputs, checkpoint, cwd: io.cwd });
    // On a terminal the result lines show the progress.
    const shown = !io.stdoutIsTty || (options.quiet ?? false);
    const progress = await createProgress(io, { label: 'replaying', shown });
    return new ReplayOutput({ options, io, files, progress });
  }

  private constructor({ options, io, files, progress }: OutputParts) {
    this.#options = options;
    this.#io = io;
    this.#files = files;
    this.#progress = progress;
  }

  /** The files, for results that print no line. */
  get files(): ResultFiles {
    return this.#files;
  }

  /** Prints a line on stderr that is not an error. */
  note(line: string): void {
    this.#progress.line(line);
  }

  /**
   * Writes the outcome of a message that was handed to the pipeline. When this returns, the checkpoint may call it settled. A
   * promise where lines or files are slower: wait for it.
   */
  settled(sent: Sent, outcome: Outcome, judgement: LoopbackJudgement | undefined): Promise<void> | undefined {
    const { origin, index, original } = sent;
    const facts = judgement === undefined ? sent.facts : { ...sent.facts, judgement };
    const written = this.#files.add({
      index,
      outcome: outcome.outcome,
      original,
      reported: () => reportedResult(origin, facts, outcome),
      told: () => ({ origin, facts: { ...facts, body: undefined }, outcome }) satisfies KeptOutcome,
    });
    const drained = this.#printOutcome(facts, outcome);
    return written === undefined ? drained : written.then(() => drained);
  }

  /** Writes an entry that is no message. As for `settled`, the checkpoint may call it settled then. */
  async invalid({ entry, index }: Omit<Numbered<ReplayEntry>, 'number'>, error: HooksError): Promise<void> {
    const invalid = invalidEntry(entry, error);
    const original = entry.kind === 'broken' ? undefined : entry.bytes;
    const written = this.#files.add({
      index,
      outcome: 'invalid',
      original,
      reported: () => reportedInvalid(invalid),
      told: () => ({ invalid }) satisfies KeptInvalid,
    });
    await this.#printInvalid(invalid);
    await written;
  }

  /** Writes a result of the replay that is resumed, as if it were one of this replay. */
  async earlier({ told }: KeptResult): Promise<void> {
    const result = told as KeptOutcome | KeptInvalid; // what `settled` and `invalid` gave
    if ('invalid' in result) {
      await this.#files.addEarlier(reportedInvalid(result.invalid));
      return this.#printInvalid(result.invalid);
    }
    const { origin, facts, outcome } = result;
    await this.#files.addEarlier(reportedResult(origin, facts, outcome));
    return this.#printOutcome(facts, outcome);
  }

  #printOutcome(facts: ResultFacts, outcome: Outcome): Promise<void> | undefined {
    if (!this.#isShown(isTaken(outcome.outcome))) return undefined;
    const printed = this.#print(this.#resultLine(facts, outcome));
    this.#hint(outcome);
    return printed;
  }

  /** Says how to fix it, once for each fix: a thousand messages may fail for one reason. */
  #hint(outcome: Outcome): void {
    if (decidingAttemptOf(outcome)?.status === undefined) this.#unanswered ??= outcome;
    const { hint } = failureCause(outcome) ?? {};
    if (hint === undefined || this.#isJson || this.#hints.has(hint) || this.#hints.size >= MAX_HINTS) return;
    this.#hints.add(hint);
    noteHint({ note: (line) => this.note(line), errColor: this.#io.errColor }, printable(hint, 1_000));
  }

  #resultLine(facts: ResultFacts, outcome: Outcome): string {
    if (this.#isJson) return jsonLine(resultLine(outcome, facts));
    // For people the summary counts the messages that an interruption leaves untouched.
    const isUntouched = outcome.outcome === 'unsent' && decidingAttemptOf(outcome) === undefined;
    return isUntouched ? '' : `${resultText(outcome, facts, this.#io)}\n`;
  }

  async #printInvalid(invalid: InvalidEntry): Promise<void> {
    const { errColor } = this.#io;
    this.#isShown(false);
    await this.#print(this.#isJson ? jsonLine(invalidLine(invalid)) : `${invalidText(invalid, this.#io)}\n`);
    if (this.#isJson) this.note(`${errColor.red('invalid:')} ${printable(invalid.place)}: ${invalid.reason}`);
  }

  async finish(summary: ReplaySummary, received: string | undefined): Promise<void> {
    this.#progress.stop();
    await this.#explainUnanswered();
    const isFinished = summary.resumed?.finished ?? false;
    if (summary.read === 0 && summary.skipped > 0 && !isFinished && !this.#options.quiet) {
      const messages = summary.skipped === 1 ? '1 message' : `${summary.skipped} messages`;
      this.#io.note(`note: nothing is left of ${messages} after ${this.#skippingFlags()}`);
    }
    if (this.#options.output === 'json') this.#io.out(jsonLine({ summary }));
    else if (!this.#options.quiet || summary.delivered + summary.queued < summary.read) {
      this.#io.out(`${this.#summaryText(summary, received)}\n`);
    }
    await this.#files.finish(summary);
  }

  /** Looks once at the port of a receiver that did not respond, and says what is found there. */
  async #explainUnanswered(): Promise<void> {
    if (this.#unanswered === undefined || this.#isJson) return;
    const examined = await examinedOutcome(this.#unanswered, this.#io);
    if (examined === this.#unanswered) return;
    const { says } = failureCause(examined) ?? {};
    if (says !== undefined) this.#io.note(`cause: ${printable(says, 1_000)}`);
    this.#hint(examined);
  }

  /** Ends without a summary after something unexpected. */
  async abandon(): Promise<void> {
    this.#progress.stop();
    await this.#files.abandon();
  }

  /** The flags that may have skipped messages. */
  #skippingFlags(): string {
    const { filter, offset, resume, again } = this.#options;
    const given = [filter && '--filter', offset && '--offset', resume && '--resume', again && '--again'];
    return given.filter((flag) => flag !== undefined).join(' and ');
  }

  #summaryText(summary: ReplaySummary, received: string | undefined): string {
    const lines = ['', ...summaryLines(summary), received ?? []].flat();
    return fitText(lines.join('\n'), this.#io.stdoutColumns);
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }

  /** Counts a result. With -q only failures are shown. */
  #isShown(isGood: boolean): boolean {
    this.#progress.update(++this.#done);
    return !isGood || !this.#options.quiet;
  }

  /** Prints lines. A promise while their reader is slower. */
  #print(lines: string): Promise<void> | undefined {
    this.#io.out(lines);
    return this.#io.drained();
  }
}

interface ReplaySources {
  /** Absolute paths. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
}

interface OutputParts {
  readonly options: ReplayOptions;
  readonly io: Io;
  readonly files: ResultFiles;
  readonly progress: ProgressBar;
}

/** What a journal keeps of a settled message. */
interface KeptOutcome {
  readonly origin: Origin;
  readonly facts: ResultFacts;
  readonly outcome: Outcome;
}

interface KeptInvalid {
  readonly invalid: InvalidEntry;
}
