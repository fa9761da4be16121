import { beforeAll, describe, expect, it } from 'vitest';
import { hasColors } from '../../src/cli/io.ts';
import { loadPalette, PLAIN_PALETTE, type Palette } from '../../src/cli/palette.ts';

describe('a palette', () => {
  let palette: Palette;
  beforeAll(async () => {
    palette = await loadPalette();
  });

  it('colors a text with basic codes, whatever the output of this process is', () => {
    expect(palette.bold('a')).toBe('\u001b[1ma\u001b[22m');
    expect(palette.dim('a')).toBe('\u001b[2ma\u001b[22m');
    expect(palette.red('a')).toBe('\u001b[31ma\u001b[39m');
    expect(palette.green('a')).toBe('\u001b[32ma\u001b[39m');
    expect(palette.yellow('a')).toBe('\u001b[33ma\u001b[39m');
  });

  it('restores its color after a nested color', () => {
    expect(palette.red(`a ${palette.green('b')} c`)).toBe(
      '\u001b[31ma \u001b[32mb\u001b[39m\u001b[31m c\u001b[39m',
    );
  });

  it('colors each line separately, and no empty text', () => {
    expect(palette.dim('a\nb')).toBe('\u001b[2ma\u001b[22m\n\u001b[2mb\u001b[22m');
    expect(palette.dim('')).toBe('');
  });

  it('leaves a text unchanged without colors', () => {
    expect(Object.values(PLAIN_PALETTE).map((paint) => paint('a'))).toEqual(['a', 'a', 'a', 'a', 'a']);
  });
});

function unasked(): boolean {
  throw new Error('the terminal was asked');
}

describe('hasColors', () => {
  const [terminal, pipe] = [() => true, () => false];

  it('obeys the flag, then NO_COLOR, then FORCE_COLOR, then the terminal', () => {
    expect(hasColors(terminal, { FORCE_COLOR: '1' }, ['--no-color'])).toBe(false);
    expect(hasColors(terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, [])).toBe(false);
    expect(hasColors(terminal, { FORCE_COLOR: '0' }, [])).toBe(false);
    expect(hasColors(pipe, { FORCE_COLOR: '1', NO_COLOR: '' }, [])).toBe(true);
    expect(hasColors(terminal, { TERM: 'dumb' }, [])).toBe(false);
    expect(hasColors(terminal, { TERM: 'xterm' }, [])).toBe(true);
    expect(hasColors(pipe, { TERM: 'xterm' }, [])).toBe(false);
  });

  it('does not ask the terminal if a variable decides', () => {
    expect(hasColors(unasked, { FORCE_COLOR: '1' }, [])).toBe(true);
    expect(hasColors(unasked, { NO_COLOR: '1' }, [])).toBe(false);
    expect(hasColors(unasked, { TERM: 'dumb' }, [])).toBe(false);
  });
});
