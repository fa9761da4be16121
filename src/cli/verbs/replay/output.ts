import type { HooksError } from '../../../errors.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import type { ReplayEntry, Origin } from '../../../replay/reading/replay-entry.ts';
import type { ReplaySummary } from '../../../replay/ledger.ts';
import type { KeptResult } from '../../../report/result-journal.ts';
import { summaryLines } from '../../../report/summary.ts';
import type { Io } from '../../io.ts';
import { formatDuration } from '../../../duration.ts';
import { noteError } from '../../error-text.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import type { LoopbackJudgement } from '../../flags/delivery/loopback.ts';
import { createProgress, type ProgressBar, type ProgressMeasure } from '../../print/progress.ts';
import { decidingAttemptOf } from '../../print/deciding-attempt.ts';
import type { GithubStep } from '../../print/github-step.ts';
import { failureCause } from '../../print/failure-cause.ts';
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
import { ResultFiles } from './result-files.ts';
import type { Numbered, Sent } from './sent-message.ts';

/** Writes a replay: result lines, progress, the files of results, the summary. */
export class ReplayOutput {
  /** Whether a body was warned of: once is enough. */
  hasWarned = false;
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #files: ResultFiles;
  readonly #progress: ProgressBar;
  readonly #github: GithubStep | undefined;
  /** Undefined for JSON: its lines say all. */
  readonly #hints: FailureHints | undefined;

  /** Opens the files before anything is sent. Throws ConfigError or InputError when one cannot be written. */
  static async open(
    options: ReplayOptions,
    { inputs, checkpoint, resent, github, measure }: ReplaySources,
    io: Io,
  ): Promise<ReplayOutput> {
    const { report, failed } = options;
    const files = await ResultFiles.open({ report, failed, inputs, checkpoint, resent, cwd: io.cwd });
    // Lines for all results show the progress.
    const shown = !(io.stdoutIsTty && options.verbose === true);
    const progress = createProgress(io, { label: 'replaying', shown, measure });
    return new ReplayOutput({ options, io, files, progress, github });
  }

  private constructor({ options, io, files, progress, github }: OutputParts) {
    this.#options = options;
    this.#io = io;
    this.#files = files;
    this.#progress = progress;
    this.#github = github;
    this.#hints = this.#isJson ? undefined : new FailureHints(io, (line) => this.note(line));
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
    if (outcome.outcome === 'failed') {
      this.#github?.addResult(reportedResult(origin, facts, outcome), failureCause(outcome)?.hint);
    }
    const drained = this.#printOutcome(facts, outcome);
    return written === undefined ? drained : written.then(() => drained);
  }

  /** Writes an entry that is no message. As for `settled`, the checkpoint may call it settled then. */
  async invalid({ entry, index }: Omit<Numbered<ReplayEntry>, 'number'>, error: HooksError): Promise<void> {
    const invalid = invalidEntry(entry, error);
    const written = this.#files.add({
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
    this.#hints?.tell(outcome);
    return printed;
  }

  #resultLine(sent: ResultFacts, outcome: Outcome): string {
    const facts = isTaken(outcome.outcome) ? sent : { ...sent, cause: failureCause(outcome) };
    if (this.#isJson) return jsonLine(resultLine(outcome, facts));
    // For people the summary counts the messages that an interruption leaves untouched.
    const isUntouched = outcome.outcome === 'unsent' && decidingAttemptOf(outcome) === undefined;
    return isUntouched ? '' : `${resultText(outcome, facts, this.#io)}\n`;
  }

  async #printInvalid(invalid: InvalidEntry): Promise<void> {
    const { errColor } = this.#io;
    await this.#print(this.#isJson ? jsonLine(invalidLine(invalid)) : `${invalidText(invalid, this.#io)}\n`);
    if (this.#isJson) this.note(`${errColor.red('invalid:')} ${invalidSentence(invalid)}`);
  }

  /** Warns of a body that is sent as it stands, of which a receiver may compute another signature. */
  warnOfBytes({ file, line }: Origin): void {
    this.hasWarned = true;
    this.note(
      `note: the bytes at ${file}:${line} are not what JSON.stringify makes of them; a receiver that re-serializes the body computes another signature`,
    );
  }

  /** Says how long no response came, and what is not sent for this reason. */
  gaveUp(limitMs: number): void {
    const sentence = `No response came for ${formatDuration(limitMs)}: the rest is not sent`;
    const hint =
      'check that the receiver runs at this URL; --resume sends the rest, --give-up-after waits longer';
    noteError({ note: (line) => this.note(line), errColor: this.#io.errColor }, sentence, hint);
    this.#github?.fail({ title: 'hooks replay', message: sentence, more: hint });
  }

  async finish(summary: ReplaySummary, received: string | undefined): Promise<void> {
    this.#progress.stop();
    await this.#hints?.explainNoResponse();
    const isFinished = summary.resumed?.finished ?? false;
    if (summary.read === 0 && summary.skipped > 0 && !isFinished && !this.#options.quiet) {
      const messages = summary.skipped === 1 ? '1 message' : `${summary.skipped} messages`;
      this.#io.note(`note: nothing is left of ${messages} after ${this.#skippingFlags()}`);
    }
    this.showSummary(summary, received);
    this.#github?.conclude(summaryLines(summary).join('\n'));
    await this.#files.finish(summary);
  }

  /** Says where every message is: also when a file of results cannot be written. */
  showSummary(summary: ReplaySummary, received: string | undefined): void {
    this.#progress.stop();
    if (this.#options.output === 'json') this.#io.out(jsonLine({ summary }));
    else if (!this.#options.quiet || summary.delivered + summary.queued < summary.read) {
      this.#io.out(`${this.#summaryText(summary, received)}\n`);
    }
  }

  /** Ends after something unexpected. */
  abandon(): Promise<void> {
    this.#progress.stop();
    return this.#files.abandon();
  }

  #skippingFlags(): string {
    const { filter, offset, resume, again } = this.#options;
    const given = [filter && '--filter', offset && '--offset', resume && '--resume', again && '--again'];
    return given.filter((flag) => flag !== undefined).join(' and ');
  }

  #summaryText(summary: ReplaySummary, received: string | undefined): string {
    return fitText(['', ...summaryLines(summary), received ?? []].flat().join('\n'), this.#io.stdoutColumns);
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }

  /** With -q, and at a terminal without -v, only what is not delivered is shown. */
  #isShown(isGood: boolean): boolean {
    const { output, quiet = false, verbose = false } = this.#options;
    return !isGood || (!quiet && (verbose || !this.#io.stdoutIsTty || output === 'json'));
  }

  /** Prints lines. A promise while their reader is slower. */
  #print(lines: string): Promise<void> | undefined {
    if (this.#io.stdoutIsTty) {
      this.#progress.clear();
      this.#io.out(lines);
      this.#io.flush();
    } else this.#io.out(lines);
    return this.#io.drained();
  }
}

interface ReplaySources {
  /** Absolute paths. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
  readonly resent: AsyncIterable<Uint8Array>;
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

/** What a journal keeps of a settled message. */
interface KeptOutcome {
  readonly origin: Origin;
  readonly facts: ResultFacts;
  readonly outcome: Outcome;
}

interface KeptInvalid {
  readonly invalid: InvalidEntry;
}
