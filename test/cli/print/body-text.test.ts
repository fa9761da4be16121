import { describe, expect, it } from 'vitest';
import { bodyText } from '../../../src/cli/print/body-text.ts';
import { loadPalette, PLAIN_PALETTE } from '../../../src/cli/palette.ts';

const atTerminal = { color: PLAIN_PALETTE, stdoutColumns: 80 };
const text = (body: string, screen = atTerminal): string => bodyText(Buffer.from(body), '  ', screen);

describe('a body with -v', () => {
  it('is indented JSON at a terminal, with each number as it came', () => {
    expect(text('{"a":12345678901234567890, "b":[1.0,{"c d":"x\\"y"}],"e":{},"f":[ ],"g":null}')).toBe(
      [
        '  {',
        '    "a": 12345678901234567890,',
        '    "b": [',
        '      1.0,',
        '      {',
        '        "c d": "x\\"y"',
        '      }',
        '    ],',
        '    "e": {},',
        '    "f": [],',
        '    "g": null',
        '  }',
      ].join('\n'),
    );
  });

  it('is colored by kind', async () => {
    const color = await loadPalette();
    const colored = text('{"a":"b","c":1}', { color, stdoutColumns: 80 });
    expect(colored).toContain(`${color.bold('"a"')}: ${color.green('"b"')},`);
    expect(colored).toContain(`${color.bold('"c"')}: ${color.yellow('1')}`);
  });

  it('is one line elsewhere, and if it is not JSON', () => {
    const elsewhere = { color: PLAIN_PALETTE, stdoutColumns: undefined };
    expect(text('{"a":1}', elsewhere as never)).toBe('  {"a":1}');
    expect(text('a=1&b=2')).toBe('  a=1&b=2');
    expect(text('"text"')).toBe('  "text"');
  });

  it('cannot control the terminal', () => {
    const body = '{"a\u202E":"\u009B31m","b":"\\u001b[2J"}';
    expect(text(body)).toBe('  {\n    "a\\u202e": "\\u009b31m",\n    "b": "\\u001b[2J"\n  }');
    expect(text('\u001B[2J')).toBe('  \\u001b[2J');
  });

  it('is cut if it is very long, and says how much is left out', () => {
    const cut = text(`{"a":"${'x'.repeat(200_000)}"}`);
    expect(cut.length).toBeLessThan(100_050);
    expect(cut).toMatch(/… \(100008 more characters\)$/);
  });

  it('is one line if it is nested deeply', () => {
    const nested = `${'['.repeat(1_000)}1${']'.repeat(1_000)}`;
    expect(text(nested)).toBe(`  ${nested}`);
  });
});
