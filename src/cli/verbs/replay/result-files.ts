import { basename, resolve } from 'node:path';
import type { FollowedFiles } from '../../../replay/checkpoint/checkpoint-file.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import { FailedFile } from '../../../report/failed-file.ts';
import { openReport } from '../../../report/open-report.ts';
import { ResultJournal, type KeptResult } from '../../../report/result-journal.ts';
import type { Report, ReportedOutcome, ReportedResult, ReportedSummary } from '../../../report/report.ts';

export interface ResultFilesOptions {
  /** Path of the report (`--report`). */
  readonly report: string | undefined;
  /** Path of the `--failed` file. */
  readonly failed: string | undefined;
  readonly cwd: string;
  /** Absolute paths of the inputs, which the `--failed` file must not overwrite. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
  /** The entries that a resumed replay sends again. Their lines are removed from the `--failed` file. */
  readonly resent: AsyncIterable<Uint8Array>;
}

/** The outcome of an entry, with what the files record about it. */
export interface WrittenResult {
  readonly index: number;
  readonly outcome: ReportedOutcome;
  /**
   * The entry as a line of the `--failed` file. Undefined if the entry cannot be sent again, or the file is not wanted.
   */
  readonly original: Uint8Array | undefined;
  readonly reported: () => ReportedResult;
  /** Returns the journal's record of the entry. Called only for results that the journal keeps. */
  readonly told: () => object;
}

interface FilesParts {
  readonly report: Report | undefined;
  readonly failed: FailedFile | undefined;
  readonly failedPath: string;
  readonly journal: ResultJournal | undefined;
  readonly journalName: string;
}

/** The result files of a replay: the report, the file of --failed, and the journal that a resumed replay reads. */
export class ResultFiles {
  readonly #parts: FilesParts;
  /** Number of failed or invalid entries of the interrupted replay that are missing from the `--failed` file. */
  #missing = 0;
  /** Unsent messages, as lines of the `--failed` file. At most as many as were in flight when the replay ended. */
  readonly #unsent: Uint8Array[] = [];

  /** Opens the result files before anything is sent. Throws ConfigError or InputError if one cannot be written. */
  static async open(options: ResultFilesOptions): Promise<ResultFiles> {
    const { report: name, checkpoint, cwd, failed: failedName } = options;
    const journalPath = checkpoint?.resultsPath();
    const journalBytes = checkpoint?.resumed?.results?.bytes;
    const journal = journalPath === undefined ? undefined : new ResultJournal(journalPath, journalBytes);
    // Throws if the journal is damaged, before any file is opened for writing.
    await journal?.check();
    const report = name === undefined ? undefined : await openReport(resolve(cwd, name), { name });
    const failed = failedName === undefined ? undefined : openFailed(failedName, options);
    await failed?.catch(() => report?.abandon());
    const files = new ResultFiles({
      report,
      failed: await failed,
      failedPath: resolve(cwd, failedName ?? ''),
      journal,
      journalName: basename(journalPath ?? ''),
    });
    checkpoint?.follow(files.#followed());
    return files;
  }

  private constructor(parts: FilesParts) {
    this.#parts = parts;
  }

  /** Whether `--report` is given. A report lists every message, also those that the interrupted replay delivered. */
  get hasReport(): boolean {
    return this.#parts.report !== undefined;
  }

  /**
   * Adds a result to the files. As soon as this returns, the checkpoint may mark the entry as settled. The returned
   * promise, if any, resolves when the files are ready for more results.
   */
  add(result: WrittenResult): Promise<void> | undefined {
    const { outcome, original, reported } = result;
    if (outcome === 'unsent' && original !== undefined) this.#unsent.push(original);
    return both(this.#parts.report?.add(reported()), this.#keep(result));
  }

  /**
   * Adds a result of the interrupted replay to the report. Its journal already has the result. Counts a failed or
   * invalid entry as missing if the `--failed` file no longer begins with the earlier failures.
   */
  addEarlier(reported: ReportedResult): Promise<void> | undefined {
    if (reported.outcome !== 'filtered' && this.#parts.failed?.hasKept === false) this.#missing++;
    return this.report(reported);
  }

  report(reported: ReportedResult): Promise<void> | undefined {
    return this.#parts.report?.add(reported);
  }

  /** Skips an entry that failed before `--resume`. Adds its bytes to the `--failed` file if they are missing there. */
  skipFailed(original: () => Uint8Array | undefined): Promise<void> | undefined {
    if (this.#missing === 0) return undefined;
    this.#missing--;
    const bytes = original();
    return bytes === undefined ? undefined : this.#parts.failed?.add(bytes);
  }

  /**
   * Yields the results of the interrupted replay, except those of delivered and queued messages. Throws InputError if
   * the journal is damaged.
   */
  async *earlier(): AsyncGenerator<KeptResult, void, undefined> {
    yield* this.#parts.journal?.read() ?? [];
  }

  async finish(summary: ReportedSummary): Promise<void> {
    await this.#closeFailed().catch(async (error: unknown) => {
      await this.#parts.report?.abandon();
      await this.closeJournal();
      throw error;
    });
    await this.#parts.report?.finish(summary);
  }

  /** Removes the incomplete report, and closes the journal and the file of --failed. */
  async abandon(): Promise<void> {
    await this.#parts.report?.abandon();
    await this.closeJournal();
    // Closes the file of --failed last, because writing its end can fail on a full disk and the other files must be
    // closed even then.
    await this.#closeFailed();
  }

  /** Closes the journal. Call it after the checkpoint is saved, because saving syncs the journal. */
  async closeJournal(): Promise<void> {
    await this.#parts.journal?.close();
  }

  /**
   * Adds failed and invalid entries to the file of --failed and to the journal. Adds filtered messages only to the
   * journal.
   */
  #keep({ index, outcome, original, told }: WrittenResult): Promise<void> | undefined {
    if (outcome !== 'failed' && outcome !== 'invalid' && outcome !== 'filtered') return undefined;
    const { failed, journal } = this.#parts;
    const isFailure = outcome !== 'filtered' && original !== undefined;
    return both(
      isFailure ? failed?.add(original) : undefined,
      journal?.add({ index, outcome, told: told() }),
    );
  }

  #followed(): FollowedFiles {
    const { failed, failedPath, journal, journalName } = this.#parts;
    return {
      results: journal && {
        part: () => (journal.bytes === 0 ? undefined : { name: journalName, bytes: journal.bytes }),
        sync: () => journal.sync(),
      },
      failed: failed && {
        part: () => (this.#missing > 0 ? undefined : { path: failedPath, ...failed.position }),
        sync: () => failed.sync(),
      },
    };
  }

  /**
   * Writes the unsent messages to the end of the file of --failed, from which a resumed replay removes them. Closes the
   * file.
   */
  async #closeFailed(): Promise<void> {
    const { failed } = this.#parts;
    if (failed === undefined) return;
    for (const original of this.#unsent) await failed.addUnsent(original);
    await failed.close();
  }
}

function openFailed(
  name: string,
  { cwd, inputs, checkpoint, resent }: ResultFilesOptions,
): Promise<FailedFile> {
  const path = resolve(cwd, name);
  const before = checkpoint?.resumed?.failed;
  return FailedFile.open(path, { inputs, kept: before?.path === path ? before : undefined, resent, name });
}

/** Waits for both promises. Returns undefined if both are undefined. */
function both(one: Promise<void> | undefined, other: Promise<void> | undefined): Promise<void> | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Promise.all([one, other]).then(() => undefined);
}
