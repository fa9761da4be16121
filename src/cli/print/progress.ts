import type { Io } from '../io.ts';

export interface ProgressBar {
  update: (done: number) => void;
  /** Prints a line above the bar. */
  line: (text: string) => void;
  stop: () => void;
}

/** Shows how much is done on stderr if that is a terminal; else only the lines. */
export async function createProgress(
  io: Io,
  { label, shown, unit = 'messages' }: { label: string; shown: boolean; unit?: string },
): Promise<ProgressBar> {
  if (!shown || !io.stderrIsTty) return { update: () => {}, line: io.note, stop: () => {} };
  const { SingleBar } = await import('cli-progress');
  const bar = new SingleBar({
    format: `${label} {value} ${unit}, {rate}/s, {duration_formatted}`,
    stream: io.stderr,
    clearOnComplete: true,
    hideCursor: true,
    fps: 10,
    // The command handles interruptions.
    gracefulExit: false,
  });
  const startedAt = performance.now();
  // The total is not known before the end of the input.
  bar.start(Number.MAX_SAFE_INTEGER, 0, { rate: 0 });
  return {
    update: (done) => {
      const seconds = (performance.now() - startedAt) / 1_000;
      bar.update(done, { rate: Math.round(done / Math.max(seconds, 0.001)) });
    },
    line: (text) => {
      io.stderr.write('\r\u001b[K');
      io.note(text);
    },
    stop: () => bar.stop(),
  };
}
