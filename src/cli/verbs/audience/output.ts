import { systemClock } from '../../../clock.ts';
import type { Change, Counts, SyncResult } from '../../../audience/sync.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { printable } from '../../../redact.ts';
import { Ledger } from '../../../replay/ledger.ts';
import { summaryLines } from '../../../report/summary.ts';
import { formatCount } from '../../../message/limits.ts';
import type { LoopbackJudgement } from '../../flags/delivery/loopback.ts';
import type { Io } from '../../io.ts';
import { fitText } from '../../fit-text.ts';
import { jsonLine } from '../../json-line.ts';
import { formatRow } from '../../print/table.ts';
import { CauseFinder } from '../../print/cause-finder.ts';
import { createProgress } from '../../print/progress.ts';
import { destinationMs, triedDestination } from '../../print/deciding-attempt.ts';
import { isSound, isTaken, resultLine, type ResultFacts } from '../../print/result-line.ts';
import { resultText } from '../../print/result-text.ts';
import type { SyncFlags } from './options.ts';

/** Prints the output of a sync: progress, a result line for each change, and the summary. */
export class SyncOutput {
  readonly causes = new CauseFinder();
  readonly #name: string;
  readonly #flags: SyncFlags;
  readonly #io: Io;
  readonly #ledger = new Ledger(systemClock);
  readonly #isBarShown: boolean;
  #progress;
  #done = 0;
  #areAllValid = true;
  /** Whether the number of changes is known. Without the number, no summary is printed. */
  #isCounted = false;

  constructor(name: string, flags: SyncFlags, io: Io) {
    const shown = !(flags.quiet ?? false);
    this.#name = name;
    this.#flags = flags;
    this.#io = io;
    // On a terminal, the result lines show the progress.
    this.#isBarShown = shown && !io.stdoutIsTty;
    this.#progress = createProgress(io, { label: 'reading', unit: 'entries', shown });
  }

  note(line: string): void {
    this.#progress.line(line);
  }

  read(entries: number): void {
    this.#progress.update(entries);
  }

  /** Switches the progress from reading to sending. */
  start(changes: number): void {
    this.#isCounted = true;
    for (let left = changes; left > 0; left--) this.#ledger.open();
    this.#progress.stop();
    this.#progress = createProgress(this.#io, { label: 'sending', shown: this.#isBarShown });
  }

  /** Prints the result of a change. Returns a promise to wait for if the reader of stdout is slower than the results. */
  settled(
    change: Change,
    outcome: Outcome,
    judgement: LoopbackJudgement | undefined,
  ): Promise<void> | undefined {
    const tried = triedDestination(outcome);
    this.#done++;
    const ms = tried && destinationMs(tried);
    this.#ledger.close(this.#done, outcome.outcome, outcome.outcome === 'unsent' ? undefined : ms);
    this.#progress.update(this.#done);
    if (!isSound(judgement)) this.#areAllValid = false;
    if (this.#flags.quiet && isTaken(outcome.outcome)) return undefined;
    return this.causes.find(outcome, (cause) => {
      this.#io.out(this.#changeLine(change, outcome, { cause, judgement }));
      return this.#io.drained();
    });
  }

  #changeLine({ userId, value }: Change, outcome: Outcome, found: Partial<ResultFacts>): string {
    const facts = { type: 'identify', title: `${userId} ${JSON.stringify(value)}`, ...found };
    if (this.#flags.output === 'json') return jsonLine({ ...resultLine(outcome, facts), userId, value });
    const isUntouched =
      outcome.outcome === 'unsent' && outcome.destinations.every((each) => each.attempts.length === 0);
    return isUntouched ? '' : `${resultText(outcome, facts, this.#io)}\n`;
  }

  /** Prints the summary. Returns whether every change was delivered or queued. */
  finish(result: SyncResult): boolean {
    this.#progress.stop();
    if (this.#io.signal.aborted && !this.#flags.quiet) {
      this.#io.note(
        `interrupted; ${this.#isCounted ? 'the next sync continues from here' : 'nothing was sent'}`,
      );
    }
    if (!this.#isCounted) return false;
    const summary = this.#ledger.summary();
    const { trait, place, counts } = result;
    const { kind } = this.#flags;
    if (this.#flags.output === 'json') {
      this.#io.out(jsonLine({ summary: { kind, name: this.#name, trait, place, ...counts, ...summary } }));
    } else if (!this.#flags.quiet) {
      // Leaves out the first line of the ledger's summary, because the head lines contain the same counts.
      const rest = summary.read === 0 ? [] : ['', ...summaryLines(summary).slice(1)];
      this.#io.out(fitText(`${[...this.#headLines(result), ...rest].join('\n')}\n`, this.#io.stdoutColumns));
    }
    return result.isComplete && this.#areAllValid;
  }

  /** Prints the result of a dry run. Returns false if the dry run was interrupted. */
  preview(result: SyncResult): boolean {
    this.#progress.stop();
    if (this.#io.signal.aborted) return false;
    const { trait, place, counts, before, suspicion, examples } = result;
    const { kind, output } = this.#flags;
    if (suspicion !== undefined) this.#io.note(`note: this would be rejected without --force: ${suspicion}`);
    if (output === 'json') {
      const shown = examples.map(({ kind: change, userId, value }) => ({ change, userId, value }));
      const facts = { kind, name: this.#name, trait, place, before, ...counts };
      this.#io.out(jsonLine({ dryRun: true, ...facts, refusal: suspicion, examples: shown }));
      return true;
    }
    const { stdoutColumns: columns } = this.#io;
    const lines = examples.map(({ kind: change, userId, value }) => {
      const cells = [
        { text: `  ${change}`, minWidth: 10 },
        { text: printable(userId, 80), shortest: 16 },
      ];
      return formatRow([...cells, { text: printable(JSON.stringify(value), 80) }], { columns });
    });
    const shown = lines.length > 0 ? ['', 'for example', ...lines] : [];
    this.#io.out(`${[...this.#headLines(result), ...shown].join('\n')}\n`);
    return true;
  }

  /** Removes the progress bar. */
  stop(): void {
    this.#progress.stop();
  }

  #headLines({ trait, place, counts }: SyncResult): string[] {
    const text = `${printable(this.#name, 200)}, sent as ${trait} to ${printable(place)}`;
    const cells = [{ text: this.#flags.kind, minWidth: 10 }, { text }];
    const head = formatRow(cells, { columns: this.#io.stdoutColumns, gap: 1 });
    return [head, ...countLines(counts, this.#flags)];
  }
}

function countLines(counts: Counts, { kind }: SyncFlags): string[] {
  const { members, added, removed, changed, unchanged, repeated, duplicates } = counts;
  const rows = [
    [kind === 'trait' ? 'users' : 'members', members, true],
    ['added', added, true],
    ['removed', removed, true],
    ['changed', changed, kind === 'trait'],
    ['unchanged', unchanged, true],
    ['repeated', repeated, repeated > 0],
    ['duplicates', duplicates, duplicates > 0],
  ] as const;
  const shown = rows
    .filter(([, , isShown]) => isShown)
    .map(([label, count]) => [label, formatCount(count)] as const);
  const width = Math.max(...shown.map(([, count]) => count.length));
  return shown.map(([label, count]) => `${label.padEnd(10)} ${count.padStart(width)}`);
}
