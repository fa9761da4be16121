import { durationText } from '../attempt-text.ts';
import type { Io } from '../io.ts';

export interface ProgressBar {
  /** With a total the bar shows the share and the time left. */
  update: (done: number, total?: number) => void;
  /** Shows a text in place of the figures until the next update. */
  say: (text: string) => void;
  /** Prints a line above the bar. */
  line: (text: string) => void;
  stop: () => void;
}

interface ProgressOptions {
  readonly label: string;
  readonly shown: boolean;
  /** @default messages */
  readonly unit?: string;
}

/** Shows how much is done on stderr if that is a terminal; else only the lines. */
export async function createProgress(
  io: Io,
  { label, shown, unit = 'messages' }: ProgressOptions,
): Promise<ProgressBar> {
  if (!shown || !io.stderrIsTty) return { update: () => {}, say: () => {}, line: io.note, stop: () => {} };
  const { SingleBar } = await import('cli-progress');
  const figures = new ProgressFigures(performance.now());
  let override: string | undefined;
  const bar = new SingleBar({
    format: () => override ?? `${label} ${figures.text(unit, performance.now())}`,
    stream: io.stderr,
    clearOnComplete: true,
    hideCursor: true,
    fps: 10,
    // The command handles interruptions.
    gracefulExit: false,
  });
  // Nothing of the bar's own figures is shown.
  bar.start(Number.MAX_SAFE_INTEGER, 0);
  return {
    update: (done, total) => {
      override = undefined;
      figures.update({ done, total, now: performance.now() });
    },
    say: (text) => {
      override = text;
    },
    line: (text) => {
      io.stderr.write('\r\u001b[K');
      io.note(text);
    },
    stop: () => bar.stop(),
  };
}

const BAR_WIDTH = 16;

/** What a progress bar says. Times are those of a monotonic clock, in ms. */
export class ProgressFigures {
  readonly #startedAt: number;
  #updatedAt: number;
  #done = 0;
  #total: number | undefined;
  /** When the total became known: what was before it says nothing of how long the rest takes. */
  #totalSince = 0;

  constructor(now: number) {
    this.#startedAt = now;
    this.#updatedAt = now;
  }

  update({ done, total, now }: { done: number; total: number | undefined; now: number }): void {
    if (this.#total === undefined) this.#totalSince = now;
    this.#done = done;
    this.#total = total;
    this.#updatedAt = now;
  }

  /** `120 messages, 40/s, 3s`; with a total `████▌           14 of 50, 28%, 1m 20s left`. */
  text(unit: string, now: number): string {
    const [done, total] = [this.#done, this.#total];
    if (total !== undefined) return this.#shareText(total, now);
    const elapsedMs = now - this.#startedAt;
    const rate = Math.round(done / Math.max(elapsedMs / 1_000, 0.001));
    return `${done} ${unit}, ${rate}/s, ${durationText(Math.floor(elapsedMs / 1_000) * 1_000)}`;
  }

  #shareText(total: number, now: number): string {
    const done = this.#done;
    const share = total === 0 ? 1 : done / total;
    const filled = Math.floor(share * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    const left = done === 0 ? '' : `, ${durationText(this.#leftMs(total, now))} left`;
    return `${bar} ${done} of ${total}, ${Math.floor(share * 100)}%${left}`;
  }

  /** Goes down between two updates too. In whole seconds: more would be a guess. */
  #leftMs(total: number, now: number): number {
    const each = (this.#updatedAt - this.#totalSince) / this.#done;
    const leftMs = each * (total - this.#done) - (now - this.#updatedAt);
    return Math.max(1, Math.ceil(leftMs / 1_000)) * 1_000;
  }
}
