import { resolve } from 'node:path';
import { InputError, ValidationError, type HooksError } from '../../errors.ts';
import { printable } from '../../redact.ts';
import type { Outcome, OutcomeAttempt } from '../../pipeline/outcomes.ts';
import type { Checkpoint } from '../../replay/checkpoint.ts';
import type { Entry } from '../../replay/entry.ts';
import type { Summary } from '../../replay/ledger.ts';
import { FailedFile } from '../../report/failed-file.ts';
import { openReport } from '../../report/open-report.ts';
import { isSameFile, refuseToOverwrite } from '../../report/refuse-to-overwrite.ts';
import type { Report, ReportedResult } from '../../report/result.ts';
import { summaryLines } from '../../report/summary.ts';
import type { Io } from '../io.ts';
import { jsonLine } from '../result/json-line.ts';
import type { Judgement } from '../delivery/loopback.ts';
import { createProgress, type Progress } from '../result/progress.ts';
import { decidingAttempt, decisive, elapsedMs, isTaken, resultLine } from '../result/result-line.ts';
import { explanation, resultText } from '../result/result-text.ts';
import type { ReplayOptions } from './options.ts';
import type { Sent } from './sent.ts';

/** Everything a replay writes: result lines, progress, the report, the file of what failed, the summary. */
export class ReplayOutput {
  readonly #options: ReplayOptions;
  readonly #io: Io;
  readonly #parts: Parts;
  #done = 0;
  /** At most what was under way when it ended. */
  readonly #unsent: Uint8Array[] = [];

  /** Opens the files before anything is sent. Throws ConfigError or InputError when one cannot be written. */
  static async open(options: ReplayOptions, { inputs, checkpoint }: Books, io: Io): Promise<ReplayOutput> {
    const { report, failed, resume } = options;
    await refuseLoss(options, { inputs, cwd: io.cwd });
    const opened = report === undefined ? undefined : await openReport(resolve(io.cwd, report), report);
    const openFailed = async (name: string): Promise<FailedFile> => {
      const path = resolve(io.cwd, name);
      const keepBytes = resume ? keptBytes(path, checkpoint) : 0;
      const file = FailedFile.open(path, { inputs, keepBytes, name });
      await file.catch(() => opened?.abandon());
      return file;
    };
    const failedFile = failed === undefined ? undefined : await openFailed(failed);
    // On a terminal the result lines are progress enough.
    const shown = !io.stdoutIsTty || (options.quiet ?? false);
    const progress = await createProgress(io, { label: 'replaying', shown });
    return new ReplayOutput(options, io, { report: opened, failed: failedFile, progress, checkpoint });
  }

  private constructor(options: ReplayOptions, io: Io, parts: Parts) {
    this.#options = options;
    this.#io = io;
    this.#parts = parts;
  }

  /** A line on stderr that is not an error. */
  note(line: string): void {
    this.#parts.progress.line(line);
  }

  /** The outcome of a message that was handed to the pipeline. A promise where lines or files are slower: wait for it. */
  settled(sent: Sent, outcome: Outcome, judgement: Judgement | undefined): Promise<void> | undefined {
    const drained = this.#isShown(isTaken(outcome.outcome))
      ? this.#print(this.#lineOf(sent, outcome, judgement))
      : undefined;
    if (!this.#keepsResults) return drained;
    return this.#keep(reported(sent, outcome), sent.original).then(() => drained);
  }

  #lineOf({ facts }: Sent, outcome: Outcome, judgement: Judgement | undefined): string {
    const known = judgement === undefined ? facts : { ...facts, judgement };
    if (this.#isJson) return jsonLine(resultLine(outcome, known));
    // For people the number of those that an interruption leaves untouched, in the summary, says it all.
    const isUntouched = outcome.outcome === 'unsent' && attemptOf(outcome) === undefined;
    return isUntouched ? '' : `${resultText(outcome, known, this.#io.color)}\n`;
  }

  /** An entry that is no message. */
  async invalid(entry: Entry, error: HooksError): Promise<void> {
    const { color, errColor } = this.#io;
    const { origin } = entry;
    const reason = printable(error.message, 2_000);
    const place = printable(placeOf(entry, error));
    const lines = [`${color.red('✗ invalid  ')} ${place}: ${reason}`, error.hint && printable(error.hint)];
    const text = lines.filter((line) => line !== undefined).join('\n  ');
    this.#isShown(false);
    await this.#print(this.#isJson ? jsonLine(invalidLine(entry, error)) : `${text}\n`);
    if (this.#isJson) this.note(`${errColor.red('invalid:')} ${place}: ${reason}`);
    const result = { origin, outcome: 'invalid', reason: `${reason} (${place})`, attempts: 0 } as const;
    const original = entry.kind === 'broken' ? undefined : entry.bytes;
    await this.#keep({ name: 'invalid entry', ...result }, original);
  }

  async finish(summary: Summary, received: string | undefined): Promise<void> {
    const { progress, report } = this.#parts;
    progress.stop();
    if (summary.read === 0 && summary.skipped > 0 && !this.#options.quiet) {
      const messages = summary.skipped === 1 ? '1 message' : `${summary.skipped} messages`;
      this.#io.note(`note: nothing is left of ${messages} after ${this.#choices()}`);
    }
    if (this.#options.output === 'json') this.#io.out(jsonLine({ summary }));
    else if (!this.#options.quiet || summary.delivered + summary.queued < summary.read)
      this.#io.out(`${this.#summaryText(summary, received)}\n`);
    await this.#closeFailed();
    await report?.finish(summary);
  }

  /** Ends without a summary: something unexpected happened. */
  async abandon(): Promise<void> {
    this.#parts.progress.stop();
    // Nobody notes where the unsent begin.
    if (this.#parts.checkpoint?.isKept) this.#unsent.length = 0;
    await this.#closeFailed();
    await this.#parts.report?.abandon();
  }

  /** What may have passed over messages. */
  #choices(): string {
    const { filter, offset, resume } = this.#options;
    const given = [filter && '--filter', offset && '--offset', resume && '--resume'];
    return given.filter((flag) => flag !== undefined).join(' and ');
  }

  #summaryText(summary: Summary, received: string | undefined): string {
    return ['', ...summaryLines(summary), ...(received === undefined ? [] : [received])].join('\n');
  }

  get #isJson(): boolean {
    return this.#options.output === 'json';
  }

  get #keepsResults(): boolean {
    return this.#parts.report !== undefined || this.#parts.failed !== undefined;
  }

  /** Counts it. With -q only what went wrong is shown. */
  #isShown(isGood: boolean): boolean {
    this.#parts.progress.update(++this.#done);
    return !isGood || !this.#options.quiet;
  }

  /** A promise while whoever reads the lines is slower. */
  #print(lines: string): Promise<void> | undefined {
    this.#io.out(lines);
    return this.#io.drained();
  }

  async #keep(result: ReportedResult, original: Uint8Array | undefined): Promise<void> {
    const { report, failed } = this.#parts;
    if (report !== undefined) await report.add(result);
    if (failed === undefined || original === undefined) return;
    if (result.outcome === 'unsent') this.#unsent.push(original);
    else if (!isTaken(result.outcome) && result.outcome !== 'filtered') await failed.add(original);
  }

  /** Behind all else, where a resumed replay, which sends them, can take them out. */
  async #closeFailed(): Promise<void> {
    const { failed, checkpoint } = this.#parts;
    if (failed === undefined) return;
    const { bytes } = failed;
    for (const original of this.#unsent) await failed.add(original);
    await failed.close();
    const { failed: name = '' } = this.#options;
    if (checkpoint !== undefined) checkpoint.failed = { path: resolve(this.#io.cwd, name), bytes };
  }
}

interface Books {
  /** Absolute paths. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
}

interface Parts extends Pick<Books, 'checkpoint'> {
  readonly report: Report | undefined;
  readonly failed: FailedFile | undefined;
  readonly progress: Progress;
}

/** The unsent of the replay that is resumed are sent now. After a kill -9 there are none in the file. */
function keptBytes(path: string, checkpoint: Checkpoint | undefined): number {
  const failed = checkpoint?.failed;
  return failed?.path === path ? failed.bytes : Infinity;
}

/** Throws InputError for a report that would take the place of an input or of the file of what failed. */
async function refuseLoss(
  { report, failed }: ReplayOptions,
  { inputs, cwd }: Pick<Books, 'inputs'> & Pick<Io, 'cwd'>,
): Promise<void> {
  if (report === undefined) return;
  const path = resolve(cwd, report);
  await refuseToOverwrite(inputs, { path, name: report, flag: '--report' });
  if (failed === undefined || !(await isSameFile(path, resolve(cwd, failed)))) return;
  throw new InputError('cannot be both the report and the file of what failed', {
    file: report,
    hint: 'name two files in --report and --failed',
  });
}

/** `file:line`, and the column where that is known. */
function placeOf({ origin }: Entry, error: HooksError): string {
  const { line = origin.line, column } = error instanceof InputError ? error : {};
  return `${origin.file}:${line}${column === undefined ? '' : `:${column}`}`;
}

function invalidLine(entry: Entry, error: HooksError): object {
  const { file, line } = entry.origin;
  return {
    outcome: 'invalid',
    error: 'invalid',
    reason: printable(error.message, 2_000),
    ...(error instanceof ValidationError && error.path !== '' && { path: error.path }),
    at: placeOf(entry, error),
    attempts: [],
    origin: `${file}:${line}`,
  };
}

function reported({ origin, facts }: Sent, outcome: Outcome): ReportedResult {
  const destination = decisive(outcome.destinations);
  const last = attemptOf(outcome);
  return {
    name: facts.title === '' ? facts.type : `${facts.type} "${facts.title}"`,
    origin,
    outcome: outcome.outcome,
    messageId: outcome.messageId,
    url: last?.url,
    status: last?.status,
    error: outcome.refusal?.code ?? last?.error,
    reason: reasonOf(outcome),
    attempts: destination?.attempts.length ?? 0,
    ms: destination && elapsedMs(destination),
  };
}

/** The attempt that decided, if there was any. */
function attemptOf({ destinations }: Outcome): OutcomeAttempt | undefined {
  const destination = decisive(destinations);
  return destination && decidingAttempt(destination);
}

/** On one line, for a report. */
function reasonOf(outcome: Outcome): string | undefined {
  const lines = explanation(outcome);
  return lines.length === 0 ? undefined : lines.join('; ');
}
