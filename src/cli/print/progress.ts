import { durationText } from '../attempt-text.ts';
import { columnsOf, DEFAULT_COLUMNS, truncateEnd } from '../fit-text.ts';
import type { Io } from '../io.ts';

export interface ProgressBar {
  /** Sets the figures. With a total, the bar shows the share and the time left. A label lasts until the next update. */
  update: (done: number, total?: number, label?: string) => void;
  /** Shows a text in the bar in place of the figures, until the next update. */
  say: (text: string) => void;
  /** Prints a line above the bar. */
  line: (text: string) => void;
  /** Removes the bar until it is drawn again, before something else is printed. */
  clear: () => void;
  stop: () => void;
}

/** Returns the amount done, and the total if it can be estimated. */
export type ProgressMeasure = () => { readonly done: number; readonly total: number | undefined };

interface ProgressOptions {
  readonly label: string;
  readonly shown: boolean;
  /** Plural of the counted things, as the bar prints it. @default messages */
  readonly unit?: string;
  /**
   * Called before each drawing of the bar, in place of calls of `update`. The total that `measure` returns is an estimate,
   * so the bar shows the percentage and the rate instead of the total.
   */
  readonly measure?: ProgressMeasure;
}

const REDRAW_MS = 100;
const CLEAR_LINE = '\r\u001b[K';

/**
 * Creates a progress bar in the last line of stderr; without a terminal, only `line` prints. Not drawn with `cli-progress`,
 * because that moves the cursor back to its start and overwrites the lines printed above the bar.
 */
export function createProgress(
  { stderr, stderrIsTty, note }: Pick<Io, 'stderr' | 'stderrIsTty' | 'note'>,
  { label, shown, unit = 'messages', measure }: ProgressOptions,
): ProgressBar {
  if (!shown || !stderrIsTty) {
    return { update: () => {}, say: () => {}, line: note, clear: () => {}, stop: () => {} };
  }
  const figures = new ProgressFigures(performance.now(), { isGuess: measure !== undefined });
  let [shownLabel, override] = [label, undefined as string | undefined]; // TypeScript would infer only undefined
  const clear = (): void => void stderr.write(CLEAR_LINE);
  const draw = (): void => {
    if (measure !== undefined) figures.update({ ...measure(), now: performance.now() });
    const text = override ?? `${shownLabel} ${figures.text(unit, performance.now())}`;
    // Cuts the text to the width of the terminal, because a wrapped bar could not be cleared.
    stderr.write(CLEAR_LINE + truncateEnd(text, (columnsOf(stderr) ?? DEFAULT_COLUMNS) - 1));
  };
  const timer = setInterval(draw, REDRAW_MS).unref();
  return {
    update: (done, total, newLabel = label) => {
      [shownLabel, override] = [newLabel, undefined];
      figures.update({ done, total, now: performance.now() });
    },
    say: (text) => {
      override = text;
    },
    line: (text) => {
      clear();
      note(text);
    },
    clear,
    stop: () => {
      clearInterval(timer);
      clear();
    },
  };
}

const BAR_WIDTH = 16;

/** The figures of a progress bar. Times are ms of a monotonic clock. */
export class ProgressFigures {
  readonly #startedAt: number;
  readonly #isGuess: boolean;
  #updatedAt: number;
  #done = 0;
  #total: number | undefined;
  /** When the total became known: the time before that does not help to estimate the time left. */
  #totalSince = 0;

  /** @param isGuess whether totals are estimates */
  constructor(now: number, { isGuess = false } = {}) {
    this.#startedAt = now;
    this.#isGuess = isGuess;
    this.#updatedAt = now;
  }

  update({ done, total, now }: { done: number; total: number | undefined; now: number }): void {
    if (this.#total === undefined) this.#totalSince = this.#isGuess ? this.#startedAt : now;
    this.#done = done;
    this.#total = total;
    this.#updatedAt = now;
  }

  /**
   * Returns the text of the bar: `120 messages, 40/s, 3s`; with a total `████░░ 14 of 50, 28%, 1m 20s left`; with an
   * estimated total `████░░ 28%, 40/s, 1m 20s left`.
   */
  text(unit: string, now: number): string {
    const [done, total] = [this.#done, this.#total];
    if (total !== undefined) return this.#shareText(total, now);
    const elapsedMs = now - this.#startedAt;
    return `${done} ${unit}, ${this.#rate(now)}, ${durationText(Math.floor(elapsedMs / 1_000) * 1_000)}`;
  }

  #rate(now: number): string {
    return `${Math.round(this.#done / Math.max((now - this.#startedAt) / 1_000, 0.001))}/s`;
  }

  #shareText(total: number, now: number): string {
    const done = this.#done;
    const share = total === 0 ? 1 : Math.min(1, done / total);
    const filled = Math.floor(share * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const left = done === 0 ? '' : `, ${durationText(this.#leftMs(total, now))} left`;
    const percent = `${Math.floor(share * 100)}%`;
    const figures = this.#isGuess ? `${percent}, ${this.#rate(now)}` : `${done} of ${total}, ${percent}`;
    return `${bar} ${figures}${left}`;
  }

  /** Estimates the time left, in whole seconds. The estimate also decreases between two updates. */
  #leftMs(total: number, now: number): number {
    const each = (this.#updatedAt - this.#totalSince) / this.#done;
    const leftMs = each * (total - this.#done) - (now - this.#updatedAt);
    return Math.max(1, Math.ceil(leftMs / 1_000)) * 1_000;
  }
}
