import { describe, expect, it } from 'vitest';
import { paletteOf } from '../../src/cli/palette.ts';

describe('a palette', () => {
  const palette = paletteOf(true);

  it('paints a text by the codes that terminals know', () => {
    expect(palette.bold('a')).toBe('\u001b[1ma\u001b[22m');
    expect(palette.dim('a')).toBe('\u001b[2ma\u001b[22m');
    expect(palette.red('a')).toBe('\u001b[31ma\u001b[39m');
    expect(palette.green('a')).toBe('\u001b[32ma\u001b[39m');
    expect(palette.yellow('a')).toBe('\u001b[33ma\u001b[39m');
  });

  it('goes on with its colour after another one within it', () => {
    expect(palette.red(`a ${palette.green('b')} c`)).toBe('\u001b[31ma \u001b[32mb\u001b[31m c\u001b[39m');
  });

  it('paints each line by itself, and nothing where there is no text', () => {
    expect(palette.dim('a\nb')).toBe('\u001b[2ma\u001b[22m\n\u001b[2mb\u001b[22m');
    expect(palette.dim('')).toBe('');
  });

  it('leaves a text as it is without colours', () => {
    expect(paletteOf(false).red('a')).toBe('a');
  });
});
