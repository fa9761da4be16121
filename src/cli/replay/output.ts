import type { HooksError } from '../../errors.ts';
import type { Outcome, DeliveryAttempt } from '../../app/outcomes.ts';
import type { Checkpoint } from '../../replay/checkpoint.ts';
import type { ReplayEntry, Origin } from '../../replay/replay-entry.ts';
import type { ReplaySummary } from '../../replay/ledger.ts';
import type { KeptResult } from '../../report/result-journal.ts';
import type { ReportedResult } from '../../report/report.ts';
import { summaryLines } from '../../report/summary.ts';
import type { Io } from '../io.ts';
import { printable } from '../../redact.ts';
import { tenths } from '../print/attempt-text.ts';
import { jsonLine } from '../print/json-line.ts';
import type { LoopbackJudgement } from '../flags/delivery/loopback.ts';
import { createProgress, type ProgressBar } from '../print/progress.ts';
import {
  decidingAttempt,
  decisive,
  destinationMs,
  isTaken,
  resultLine,
  type ResultFacts,
} from '../print/result-line.ts';
import { explanation, resultText } from '../print/result-text.ts';
import {
  invalidEntry,
  invalidLine,
  invalidText,
  reportedInvalid,
  type InvalidEntry,
} from './invalid-entry.ts';
import type { ReplayOptions } from './options.ts';
import { ResultFiles } from './result-files.ts';
import type { Numbered, Sent } from './sent.ts';

/** Everything a replay writes: result lines, progress, the files of results, the summary. */
export class ReplayOutput {
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #files: ResultFiles;
  readonly #progress: ProgressBar;
  #done = 0;

  /** Opens the files before anything is sent. Throws ConfigError or InputError when one cannot be written. */
  static async open(options: ReplayOptions, { inputs, checkpoint }: Books, io: Io): Promise<ReplayOutput> {
    const { report, failed } = options;
    const files = await ResultFiles.open({ report, failed, inputs, checkpoint, cwd: io.cwd });
    // On a terminal the result lines are progress enough.
    const shown = !io.stdoutIsTty || (options.quiet ?? false);
    const progress = await createProgress(io, { label: 'replaying', shown });
    return new ReplayOutput({ options, io, files, progress });
  }

  private constructor({ options, io, files, progress }: Parts) {
    this.#options = options;
    this.#io = io;
    this.#files = files;
    this.#progress = progress;
  }

  /** Files only, without a line of its own. */
  get files(): ResultFiles {
    return this.#files;
  }

  /** A line on stderr that is not an error. */
  note(line: string): void {
    this.#progress.line(line);
  }

  /**
   * The outcome of a message that was handed to the pipeline. When this returns, the checkpoint may call it settled. A promise
   * where lines or files are slower: wait for it.
   */
  settled(sent: Sent, outcome: Outcome, judgement: LoopbackJudgement | undefined): Promise<void> | undefined {
    const { origin, index, original } = sent;
    const facts = judgement === undefined ? sent.facts : { ...sent.facts, judgement };
    const written = this.#files.add({
      index,
      outcome: outcome.outcome,
      original,
      reported: () => reported(origin, facts, outcome),
      told: () => ({ origin, facts: { ...facts, body: undefined }, outcome }) satisfies ToldOutcome,
    });
    const drained = this.#tellOutcome(facts, outcome);
    return written === undefined ? drained : written.then(() => drained);
  }

  /** An entry that is no message. The same holds. */
  async invalid({ entry, index }: Omit<Numbered<ReplayEntry>, 'number'>, error: HooksError): Promise<void> {
    const invalid = invalidEntry(entry, error);
    const original = entry.kind === 'broken' ? undefined : entry.bytes;
    const written = this.#files.add({
      index,
      outcome: 'invalid',
      original,
      reported: () => reportedInvalid(invalid),
      told: () => ({ invalid }) satisfies ToldInvalid,
    });
    await this.#tellInvalid(invalid);
    await written;
  }

  /** A result of the replay that is resumed, as if it were of this one. */
  async earlier({ told }: KeptResult): Promise<void> {
    const result = told as ToldOutcome | ToldInvalid; // what `settled` and `invalid` gave
    if ('invalid' in result) {
      await this.#files.addEarlier(reportedInvalid(result.invalid));
      return this.#tellInvalid(result.invalid);
    }
    const { origin, facts, outcome } = result;
    await this.#files.addEarlier(reported(origin, facts, outcome));
    return this.#tellOutcome(facts, outcome);
  }

  #tellOutcome(facts: ResultFacts, outcome: Outcome): Promise<void> | undefined {
    if (!this.#isShown(isTaken(outcome.outcome))) return undefined;
    return this.#print(this.#lineOf(facts, outcome));
  }

  #lineOf(facts: ResultFacts, outcome: Outcome): string {
    if (this.#isJson) return jsonLine(resultLine(outcome, facts));
    // For people the number of those that an interruption leaves untouched, in the summary, says it all.
    const isUntouched = outcome.outcome === 'unsent' && attemptOf(outcome) === undefined;
    return isUntouched ? '' : `${resultText(outcome, facts, this.#io.color)}\n`;
  }

  async #tellInvalid(invalid: InvalidEntry): Promise<void> {
    const { color, errColor } = this.#io;
    this.#isShown(false);
    await this.#print(this.#isJson ? jsonLine(invalidLine(invalid)) : `${invalidText(invalid, color)}\n`);
    if (this.#isJson) this.note(`${errColor.red('invalid:')} ${printable(invalid.place)}: ${invalid.reason}`);
  }

  async finish(summary: ReplaySummary, received: string | undefined): Promise<void> {
    this.#progress.stop();
    const isFinished = summary.resumed?.finished ?? false;
    if (summary.read === 0 && summary.skipped > 0 && !isFinished && !this.#options.quiet) {
      const messages = summary.skipped === 1 ? '1 message' : `${summary.skipped} messages`;
      this.#io.note(`note: nothing is left of ${messages} after ${this.#choices()}`);
    }
    if (this.#options.output === 'json') this.#io.out(jsonLine({ summary }));
    else if (!this.#options.quiet || summary.delivered + summary.queued < summary.read)
      this.#io.out(`${this.#summaryText(summary, received)}\n`);
    await this.#files.finish(summary);
  }

  /** Ends without a summary: something unexpected happened. */
  async abandon(): Promise<void> {
    this.#progress.stop();
    await this.#files.abandon();
  }

  /** What may have passed over messages. */
  #choices(): string {
    const { filter, offset, resume, again } = this.#options;
    const given = [filter && '--filter', offset && '--offset', resume && '--resume', again && '--again'];
    return given.filter((flag) => flag !== undefined).join(' and ');
  }

  #summaryText(summary: ReplaySummary, received: string | undefined): string {
    return ['', ...summaryLines(summary), ...(received === undefined ? [] : [received])].join('\n');
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }

  /** Counts it. With -q only what went wrong is shown. */
  #isShown(isGood: boolean): boolean {
    this.#progress.update(++this.#done);
    return !isGood || !this.#options.quiet;
  }

  /** A promise while whoever reads the lines is slower. */
  #print(lines: string): Promise<void> | undefined {
    this.#io.out(lines);
    return this.#io.drained();
  }
}

interface Books {
  /** Absolute paths. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
}

interface Parts {
  readonly options: ReplayOptions;
  readonly io: Io;
  readonly files: ResultFiles;
  readonly progress: ProgressBar;
}

/** What a journal keeps of a message. */
interface ToldOutcome {
  readonly origin: Origin;
  readonly facts: ResultFacts;
  readonly outcome: Outcome;
}

interface ToldInvalid {
  readonly invalid: InvalidEntry;
}

function reported(origin: Origin, { title, type }: ResultFacts, outcome: Outcome): ReportedResult {
  const destination = decisive(outcome.destinations);
  const last = attemptOf(outcome);
  return {
    name: caseName({ title, type }),
    origin,
    outcome: outcome.outcome,
    messageId: outcome.messageId,
    url: last?.url,
    status: last?.status,
    error: outcome.refusal?.code ?? last?.error,
    reason: reasonOf(outcome),
    attempts: destination?.attempts.length ?? 0,
    ms: destination && tenths(destinationMs(destination)),
  };
}

/** What a report calls a message. */
export function caseName({ title, type }: Pick<ResultFacts, 'title' | 'type'>): string {
  return title === '' ? type : `${type} "${title}"`;
}

/** The attempt that decided, if there was any. */
function attemptOf({ destinations }: Outcome): DeliveryAttempt | undefined {
  const destination = decisive(destinations);
  return destination && decidingAttempt(destination);
}

/** On one line, for a report. */
function reasonOf(outcome: Outcome): string | undefined {
  const lines = explanation(outcome);
  return lines.length === 0 ? undefined : lines.join('; ');
}
