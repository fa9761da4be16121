import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { showLines } from '../../../src/cli/child/command-output.ts';
import { loadPalette, PLAIN_PALETTE } from '../../../src/cli/palette.ts';

const painted = await loadPalette();
const RED = '\u001B[31m';
const END = '\u001B[0m';
const MARK = `${painted.dim('|')} `;

/** The lines that are shown for the chunks of a command's output. */
async function shown(chunks: readonly string[], isColored: boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  const stderr = { writableNeedDrain: false, destroyed: false } as never; // as far as `showLines` uses it
  const note = (line: string): void => void lines.push(line);
  const errColor = isColored ? painted : PLAIN_PALETTE;
  const io = { stderr, verbatim: { note, out: note }, errColor, env: {} };
  await showLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), { io, secrets: ['s3cret'] });
  return lines;
}

describe('the output of a command', () => {
  it('keeps its colors at a terminal, also if a chunk ends within one', async () => {
    expect(await shown([`a ${RED.slice(0, 3)}`, `${RED.slice(3)}red${END} b\n`], true)).toEqual([
      `${MARK}a ${RED}red${END} b${END}`,
    ]);
  });

  it('has no colors elsewhere', async () => {
    expect(await shown([`a ${RED}red${END} b\n`], false)).toEqual(['| a red b']);
  });

  it.each([
    ['moves the cursor', '\u001B[2J\u001B[1;1H', '\\u001b[2J\\u001b[1;1H'],
    ['sets the title', '\u001B]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['is cut off', '\u001B[31', '\\u001b[31'],
    ['asks the terminal', '\u001B[6n', '\\u001b[6n'],
  ])('escapes a sequence that %s', async (_what, sequence, escaped) => {
    expect(await shown([`a${sequence}b\n`], true)).toEqual([`${MARK}a${escaped}b`]);
    expect(await shown([`a${sequence}b\n`], false)).toEqual([`| a${escaped}b`]);
  });

  it('masks a secret that colors divide', async () => {
    for (const isColored of [true, false]) {
      const [line = ''] = await shown([`key ${RED}s3c${END}ret\n`], isColored);
      expect(line).not.toContain('s3c');
      expect(line).toContain('key ');
    }
  });
});
