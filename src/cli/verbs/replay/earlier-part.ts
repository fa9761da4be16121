import type { JsonValue } from '../../../message/types.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import type { FoundEntry } from '../../../replay/reading/replay-entry.ts';
import { IndexRanges } from '../../../replay/index-ranges.ts';
import type { Ledger, TakenOutcome } from '../../../replay/ledger.ts';
import type { ReportedResult } from '../../../report/report.ts';
import { messageTitleOf } from '../../print/result-line.ts';
import { unbuiltMessage } from '../../../message/sendable-message.ts';
import type { ReadEntry } from './entry-message.ts';
import type { ReplayOutput } from './output.ts';
import { caseName } from './reported-result.ts';
import { originalOf } from './sent-message.ts';

interface EarlierContext {
  readonly checkpoint: Checkpoint | undefined;
  readonly ledger: Ledger;
  readonly output: ReplayOutput;
  readonly isExact: boolean;
  /** The outcome of a success: `queued` with --queue, otherwise `delivered`. */
  readonly taken: TakenOutcome;
}

/**
 * Adds the entries that the interrupted replay settled to the results of this one, so that summary, report and exit code
 * describe the whole replay. None of these entries is sent again.
 */
export class EarlierPart {
  readonly #context: EarlierContext;
  /** Indexes of failed and invalid entries. */
  readonly #failed = new IndexRanges();
  readonly #filtered = new IndexRanges();

  constructor(context: EarlierContext) {
    this.#context = context;
  }

  /**
   * Prints and counts the failed, invalid and filtered entries of the interrupted replay. Throws InputError if its journal
   * is damaged.
   */
  async print(): Promise<void> {
    const { checkpoint, ledger, output } = this.#context;
    if (checkpoint?.resumed === undefined) return;
    ledger.resume(checkpoint.resumed);
    for await (const result of output.files.earlier()) {
      const indexes = result.outcome === 'filtered' ? this.#filtered : this.#failed;
      indexes.add(result.index);
      ledger.carry(result.outcome);
      await output.earlier(result);
    }
  }

  /**
   * Skips an entry that the interrupted replay settled. Adds a delivered or queued entry to the report, and a failed or
   * invalid one to the `--failed` file if it is missing there. Returns a promise to await if the disk is slow.
   */
  skip(index: number, { entry, value }: ReadEntry): Promise<void> | undefined {
    const { ledger, output, isExact, taken } = this.#context;
    if (this.#filtered.has(index)) return undefined;
    if (this.#failed.has(index)) {
      const original = (): Uint8Array | undefined =>
        entry.kind === 'broken' ? undefined : originalOf(entry, { isExact });
      return output.files.skipFailed(original);
    }
    ledger.skipTaken(taken);
    if (!output.files.hasReport || entry.kind === 'broken' || value === undefined) return undefined;
    return output.files.report(takenResult(entry, value, taken));
  }
}

/**
 * Returns the result of an earlier success for the report, without attempts and id. The journal does not keep successes,
 * because it would become as large as the report.
 */
function takenResult({ origin }: FoundEntry, value: JsonValue, outcome: TakenOutcome): ReportedResult {
  const message = unbuiltMessage(value);
  return { name: caseName({ type: message.type, title: messageTitleOf(message) }), origin, outcome };
}
