import { basename, resolve } from 'node:path';
import type { FollowedFiles } from '../../../replay/checkpoint/checkpoint-file.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import { FailedFile } from '../../../report/failed-file.ts';
import { openReport } from '../../../report/open-report.ts';
import { ResultJournal, type KeptResult } from '../../../report/result-journal.ts';
import type { Report, ReportedOutcome, ReportedResult, ReportedSummary } from '../../../report/report.ts';

export interface ResultFilesOptions {
  /** Path of the report (`--report`), and of the `--failed` file. */
  readonly report: string | undefined;
  readonly failed: string | undefined;
  readonly cwd: string;
  /** Absolute paths of the inputs, which are never overwritten. */
  readonly inputs: readonly string[];
  readonly checkpoint: Checkpoint | undefined;
  /** The entries that a resumed replay still has to send. */
  readonly resent: AsyncIterable<Uint8Array>;
}

/** The outcome of an entry, and its records in the files. */
export interface WrittenResult {
  readonly index: number;
  readonly outcome: ReportedOutcome;
  /** The bytes of the entry in its input. Undefined if they cannot be sent again. */
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
  /** Number of entries that failed in the interrupted replay and are missing from the `--failed` file. */
  #missing = 0;
  /** Unsent messages: at most as many as were in flight when the replay ended. */
  readonly #unsent: Uint8Array[] = [];

  /** Opens the result files before anything is sent. Throws ConfigError or InputError if one cannot be written. */
  static async open(options: ResultFilesOptions): Promise<ResultFiles> {
    const { report: name, checkpoint, cwd, failed: failedName } = options;
    const journalPath = checkpoint?.resultsPath();
    const journalBytes = checkpoint?.resumed?.results?.bytes;
    const journal = journalPath === undefined ? undefined : new ResultJournal(journalPath, journalBytes);
    // Throws before anything is written if the journal is damaged.
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

  /** Whether `--report` is given. A report lists every message, including those that the interrupted replay delivered. */
  get hasReport(): boolean {
    return this.#parts.report !== undefined;
  }

  /**
   * Adds a result to the files. When this returns, the checkpoint may mark the entry as settled. Returns a promise to wait
   * for before the next result if the disk is slower than the results.
   */
  add(result: WrittenResult): Promise<void> | undefined {
    const { outcome, original, reported } = result;
    if (outcome === 'unsent' && original !== undefined) this.#unsent.push(original);
    return both(this.#parts.report?.add(reported()), this.#keep(result));
  }

  /** Adds a result that the journal of the interrupted replay already contains. */
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

  /** Reads the results of the interrupted replay that were neither delivered nor queued. Throws InputError. */
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

  /** Closes the report, the journal and the file of --failed without a summary. */
  async abandon(): Promise<void> {
    await this.#parts.report?.abandon();
    await this.closeJournal();
    // Closes the file of --failed last: writing its end may fail on a full disk, and the other files must be closed before.
    await this.#closeFailed();
  }

  /** Closes the journal. Call it after the checkpoint is saved, because saving syncs the journal. */
  async closeJournal(): Promise<void> {
    await this.#parts.journal?.close();
  }

  /**
   * Adds failed and invalid entries to the file of --failed and to the journal. Adds filtered messages to the journal only.
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

  /** Writes unsent messages to the end of the file of --failed, where a resumed replay can remove them again. */
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
