import type { Io } from '../io.ts';

export interface ProgressBar {
  update: (done: number) => void;
  /** Prints a line of its own above the bar. */
  line: (text: string) => void;
  stop: () => void;
}

/** How much is done, on stderr while that is a terminal; where it is not, only the lines. */
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
    // Interruptions are ours to see to.
    gracefulExit: false,
  });
  const startedAt = performance.now();
  // How much there is to do is not known before the end of the input.
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
