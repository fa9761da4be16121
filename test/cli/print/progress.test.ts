import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createProgress, ProgressFigures } from '../../../src/cli/print/progress.ts';
import { until } from '../../until.ts';

describe('the figures of a progress bar', () => {
  it('are the rate and the time passed while the total is not known', () => {
    const figures = new ProgressFigures(1_000);
    figures.update({ done: 120, total: undefined, now: 4_000 });
    expect(figures.text('deliveries', 4_000)).toBe('120 deliveries, 40/s, 3s');
  });

  it('are the share and the time left once the total is known', () => {
    const figures = new ProgressFigures(0);
    figures.update({ done: 0, total: 50, now: 7_000 });
    expect(figures.text('', 8_000)).toBe('░░░░░░░░░░░░░░░░ 0 of 50, 0%');
    // The time before the total was known does not count: 14 took 28 s.
    figures.update({ done: 14, total: 50, now: 35_000 });
    expect(figures.text('', 35_000)).toBe('████░░░░░░░░░░░░ 14 of 50, 28%, 1m 12s left');
    expect(figures.text('', 55_000)).toBe('████░░░░░░░░░░░░ 14 of 50, 28%, 52s left');
    expect(figures.text('', 955_000)).toContain('28%, 1s left');
    figures.update({ done: 50, total: 50, now: 99_000 });
    expect(figures.text('', 99_000)).toContain('████████████████ 50 of 50, 100%');
  });

  it('fit 60 columns with many messages', () => {
    const figures = new ProgressFigures(0);
    figures.update({ done: 0, total: 10_000, now: 0 });
    figures.update({ done: 9_999, total: 10_000, now: 3_600_000 });
    expect(`schedules ${figures.text('', 3_600_000)}`.length).toBeLessThan(60);
  });
});

describe('an estimated total', () => {
  it('shows share, rate and time left', () => {
    const figures = new ProgressFigures(0, { isGuess: true });
    figures.update({ done: 250, total: 1_000, now: 2_000 });
    expect(figures.text('messages', 2_000)).toBe('████░░░░░░░░░░░░ 25%, 125/s, 6s left');
  });

  it('can be less than the amount done', () => {
    const figures = new ProgressFigures(0, { isGuess: true });
    figures.update({ done: 1_100, total: 1_000, now: 2_000 });
    expect(figures.text('messages', 2_000)).toBe('████████████████ 100%, 550/s, 1s left');
  });
});

describe('a progress bar', () => {
  it('clears only its own line, not the lines above', async () => {
    let written = '';
    const stderr = new Writable({
      write: (text: Buffer, _encoding, done) => {
        written += text.toString();
        done();
      },
    });
    const io = { stderr: Object.assign(stderr, { columns: 30 }), stderrIsTty: true };
    const bar = createProgress(
      { ...io, note: (line) => stderr.write(`${line}\n`) },
      { label: 'replaying', shown: true, measure: () => ({ done: 1, total: 4 }) },
    );
    await until(() => written.includes('replaying'), 'the bar');
    bar.line('a line');
    bar.stop();
    // Cut to the width of the terminal, because a wrapped bar cannot be cleared.
    const [drawn = ''] = written.split('\r\u001b[K').filter((part) => part.startsWith('replaying'));
    expect(drawn).toHaveLength(29);
    expect(written).toContain('\r\u001b[Ka line\n');
    expect(written.endsWith('\r\u001b[K')).toBe(true);
    // There is no other sequence, so none moves the cursor up.
    expect(written.replaceAll('\r\u001b[K', '')).not.toContain('\u001b');
  });
});
