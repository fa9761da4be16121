import type { JsonValue } from '../../message/types.ts';
import type { Checkpoint } from '../../replay/checkpoint.ts';
import type { FoundEntry } from '../../replay/replay-entry.ts';
import { IndexRanges } from '../../replay/index-ranges.ts';
import type { Ledger, TakenOutcome } from '../../replay/ledger.ts';
import type { ReportedResult } from '../../report/report.ts';
import { messageTitleOf } from '../print/result-line.ts';
import { asItIs, type ReadEntry } from './entry-message.ts';
import { caseName, type ReplayOutput } from './output.ts';
import { originalOf } from './sent.ts';

interface EarlierContext {
  readonly checkpoint: Checkpoint | undefined;
  readonly ledger: Ledger;
  readonly output: ReplayOutput;
  readonly isExact: boolean;
  /** What a replay to this place calls a message that went well. */
  readonly taken: TakenOutcome;
}

/**
 * What a resumed replay has to say of the entries that were settled before: those that were not delivered are told again, each
 * once, and the others are passed over, so that its summary, report and exit code are those of the whole.
 */
export class EarlierPart {
  readonly #context: EarlierContext;
  /** Failed or invalid. */
  readonly #failed = new IndexRanges();
  readonly #filtered = new IndexRanges();

  constructor(context: EarlierContext) {
    this.#context = context;
  }

  /** Before any entry is read. Throws InputError when the journal is damaged. */
  async tell(): Promise<void> {
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

  /** An entry that is settled. A promise while a file is slower. */
  passOver(index: number, { entry, value }: ReadEntry): Promise<void> | undefined {
    const { ledger, output, isExact, taken } = this.#context;
    if (this.#filtered.has(index)) return undefined;
    if (this.#failed.has(index)) {
      const original = (): Uint8Array | undefined =>
        entry.kind === 'broken' ? undefined : originalOf(entry, { isExact });
      return output.files.passOverFailed(original);
    }
    ledger.skipTaken(taken);
    if (!output.files.hasReport || entry.kind === 'broken' || value === undefined) return undefined;
    return output.files.report(takenResult(entry, value, taken));
  }
}

/** Neither its attempts nor the id that it was given are kept, since a journal of all messages would cost as much as the report. */
function takenResult({ origin }: FoundEntry, value: JsonValue, outcome: TakenOutcome): ReportedResult {
  const message = asItIs(value, 0);
  return { name: caseName({ type: message.type, title: messageTitleOf(message) }), origin, outcome };
}
