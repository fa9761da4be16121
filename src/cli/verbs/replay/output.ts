import type { HooksError } from '../../../errors.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import type { ReplayEntry, Origin } from '../../../replay/reading/replay-entry.ts';
import type { ReplaySummary } from '../../../replay/ledger.ts';
import type { KeptResult } from '../../../report/result-journal.ts';
import { summaryLines } from '../../../report/summary.ts';
import type { Io } from '../../io.ts';
import { formatDuration } from '../../../duration.ts';
import { noteError } from '../../error-text.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import { CauseFinder } from '../../print/cause-finder.ts';
import { createProgress, type ProgressBar, type ProgressMeasure } from '../../print/progress.ts';
import { decidingAttemptOf } from '../../print/deciding-attempt.ts';
import type { GithubStep } from '../../print/github-step.ts';
import { isTaken, resultLine, type ResultFacts } from '../../print/result-line.ts';
import { resultText } from '../../print/result-text.ts';
import {
  invalidEntry,
  invalidLine,
  invalidSentence,
  invalidText,
  reportedInvalid,
  type InvalidEntry,
} from './invalid-entry.ts';
import type { ReplayOptions } from './options.ts';
import { FailureHints } from './failure-hints.ts';
import { reportedResult } from './reported-result.ts';
import { RunPatterns } from './../../print/run-patterns.ts';
import { ResultFiles, type ResultFilesOptions } from './result-files.ts';
import type { Numbered, Sent } from './sent-message.ts';

/** Writes the output of a replay: result lines, notes, hints, progress, the summary, result files, GitHub annotations. */
export class ReplayOutput {
  /** Whether `warnOfBytes` was called. One warning is enough. */
  hasWarned = false;
  readonly causes = new CauseFinder();
  readonly patterns = new RunPatterns();
  readonly files: ResultFiles;
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #progress: ProgressBar;
  readonly #github: GithubStep | undefined;
  /** Prints hints about failures. Undefined with -o json, because the JSON lines contain the hints. */
  readonly #hints: FailureHints | undefined;

  /** Opens the result files before anything is sent. Throws ConfigError or InputError if one cannot be written. */
  static async open(
    options: ReplayOptions,
    { github, measure, ...sources }: ReplaySources,
    io: Io,
  ): Promise<ReplayOutput> {
    const { report, failed } = options;
    const files = await ResultFiles.open({ report, failed, cwd: io.cwd, ...sources });
    // Hides the progress bar if every result prints a line on the terminal.
    const shown = !(io.stdoutIsTty && options.verbose === true);
    const progress = createProgress(io, { label: 'replaying', shown, measure });
    return new ReplayOutput({ options, io, files, progress, github });
  }

  private constructor({ options, io, files, progress, github }: OutputParts) {
    this.files = files;
    this.#options = options;
    this.#io = io;
    this.#progress = progress;
    this.#github = github;
    if (!this.#isJson) this.#hints = new FailureHints(io, (line) => this.note(line), this.patterns);
  }

  /** Prints a line on stderr, above the progress bar. */
  note(line: string): void {
    this.#progress.line(line);
  }

  /**
   * Writes the outcome of a message. As soon as this returns, the checkpoint may mark the message as settled. The
   * returned promise, if any, resolves when stdout and the files are ready for more output.
   */
  settled(sent: Sent, outcome: Outcome, facts: ResultFacts): Promise<void> | undefined {
    const { origin, index, original } = sent;
    this.patterns.settled(outcome, sent);
    const written = this.files.add({
      index,
      outcome: outcome.outcome,
      original,
      reported: () => reportedResult(origin, facts, outcome),
      told: (): KeptOutcome => ({ origin, facts: { ...facts, body: undefined, cause: undefined }, outcome }),
    });
    if (outcome.outcome === 'failed') {
      this.#github?.addResult(reportedResult(origin, facts, outcome), facts.cause?.hint);
    }
    const drained = this.#printOutcome(facts, outcome);
    return written === undefined ? drained : written.then(() => drained);
  }

  /** Writes an invalid entry. As soon as this returns its promise, the checkpoint may mark the entry as settled. */
  async invalid({ entry, index }: Omit<Numbered<ReplayEntry>, 'number'>, error: HooksError): Promise<void> {
    const invalid = invalidEntry(entry, error);
    const written = this.files.add({
      index,
      outcome: 'invalid',
      original: entry.kind === 'broken' ? undefined : entry.bytes,
      reported: () => reportedInvalid(invalid),
      told: () => ({ invalid }) satisfies KeptInvalid,
    });
    this.#github?.addResult(reportedInvalid(invalid), invalid.hint);
    await this.#printInvalid(invalid);
    await written;
  }

  /** Prints and reports a result of the interrupted replay again, as if it were a result of this replay. */
  async earlier({ told }: KeptResult): Promise<void> {
    const result = told as KeptOutcome | KeptInvalid; // written by `settled` and `invalid`
    if ('invalid' in result) {
      await this.files.addEarlier(reportedInvalid(result.invalid));
      return this.#printInvalid(result.invalid);
    }
    const { origin, outcome } = result;
    await this.causes.find(outcome, async (cause) => {
      const facts = { ...result.facts, cause };
      await this.files.addEarlier(reportedResult(origin, facts, outcome));
      await this.#printOutcome(facts, outcome);
    });
  }

  #printOutcome(facts: ResultFacts, outcome: Outcome): Promise<void> | undefined {
    if (!this.#isShown(isTaken(outcome.outcome))) return undefined;
    const printed = this.#print(this.#resultLine(facts, outcome));
    this.#hints?.tell(outcome, facts.cause);
    return printed;
  }

  #resultLine(facts: ResultFacts, outcome: Outcome): string {
    if (this.#isJson) return jsonLine(resultLine(outcome, facts));
    // Text output does not list messages that were never attempted because of an interruption. The summary counts them.
    const isUntouched = outcome.outcome === 'unsent' && decidingAttemptOf(outcome) === undefined;
    return isUntouched ? '' : `${resultText(outcome, facts, this.#io)}\n`;
  }

  async #printInvalid(invalid: InvalidEntry): Promise<void> {
    const { errColor } = this.#io;
    await this.#print(this.#isJson ? jsonLine(invalidLine(invalid)) : `${invalidText(invalid, this.#io)}\n`);
    if (this.#isJson) this.note(`${errColor.red('invalid:')} ${invalidSentence(invalid)}`);
  }

  /** Warns that a receiver that re-serializes the body at `file:line` computes a different signature. */
  warnOfBytes({ file, line }: Origin): void {
    this.hasWarned = true;
    this.note(
      `note: JSON.stringify would write the body at ${file}:${line} differently; a receiver that re-serializes the body computes another signature`,
    );
  }

  /** Prints that no response came for `limitMs`, and that the remaining messages are not sent. */
  gaveUp(limitMs: number): void {
    const sentence = `No response came for ${formatDuration(limitMs)}: the rest is not sent`;
    const hint =
      'check that the receiver runs at this URL; --resume sends the rest, --give-up-after waits longer';
    noteError({ note: (line) => this.note(line), errColor: this.#io.errColor }, sentence, hint);
    this.#github?.fail({ title: 'hooks replay', message: sentence, more: hint });
  }

  async finish(summary: ReplaySummary, received: string | undefined): Promise<void> {
    this.#progress.stop();
    await this.#hints?.finish();
    const isFinished = summary.resumed?.finished ?? false;
    if (summary.read === 0 && summary.skipped > 0 && !isFinished && !this.#options.quiet) {
      this.#io.note(`note: ${nothingLeftText(summary.skipped, this.#options)}`);
    }
    this.showSummary(summary, received);
    this.#github?.conclude(summaryLines(summary).join('\n'));
    await this.files.finish(summary);
  }

  /** Prints the summary. Does not use the result files, so that it can be called after an error. */
  showSummary(summary: ReplaySummary, received: string | undefined): void {
    this.#progress.stop();
    if (this.#isJson) this.#io.out(jsonLine({ summary: { ...summary, ...this.patterns.fields() } }));
    else if (!this.#options.quiet || summary.delivered + summary.queued < summary.read) {
      this.#io.out(`${this.#summaryText(summary, received)}\n`);
    }
  }

  /** Ends the output without a summary. Removes the incomplete report, and closes the other result files. */
  abandon(): Promise<void> {
    this.#progress.stop();
    return this.files.abandon();
  }

  #summaryText(summary: ReplaySummary, received: string | undefined): string {
    return fitText(
      ['', ...summaryLines(summary), received ?? [], this.patterns.lines()].flat().join('\n'),
      this.#io.stdoutColumns,
    );
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }

  /** Whether to print a result. Successes are left out with -q, and in text on a terminal without -v. */
  #isShown(isGood: boolean): boolean {
    const { quiet = false, verbose = false } = this.#options;
    return !isGood || (!quiet && (verbose || !this.#io.stdoutIsTty || this.#isJson));
  }

  /** Prints lines. Returns a promise to await if the reader of stdout cannot keep up. */
  #print(lines: string): Promise<void> | undefined {
    if (this.#io.stdoutIsTty) {
      this.#progress.clear();
      this.#io.out(lines);
      this.#io.flush();
    } else this.#io.out(lines);
    return this.#io.drained();
  }
}

interface ReplaySources extends Omit<ResultFilesOptions, 'report' | 'failed' | 'cwd'> {
  readonly github?: GithubStep | undefined;
  readonly measure: ProgressMeasure;
}

interface OutputParts {
  readonly options: ReplayOptions;
  readonly io: Io;
  readonly files: ResultFiles;
  readonly progress: ProgressBar;
  readonly github: GithubStep | undefined;
}

/** The part of a settled message that the journal keeps. */
interface KeptOutcome {
  readonly origin: Origin;
  readonly facts: ResultFacts;
  readonly outcome: Outcome;
}

interface KeptInvalid {
  readonly invalid: InvalidEntry;
}

/** Says that flags such as --filter left out all messages. */
export function nothingLeftText(
  skipped: number,
  { filter, offset, resume, again }: Pick<ReplayOptions, 'filter' | 'offset' | 'resume' | 'again'>,
): string {
  const given = [filter && '--filter', offset && '--offset', resume && '--resume', again && '--again'];
  const flags = given.filter((flag) => flag !== undefined).join(' and ');
  return `nothing is left of ${skipped === 1 ? '1 message' : `${skipped} messages`} after ${flags}`;
}
