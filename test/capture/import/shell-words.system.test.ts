// Needs bash.
import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { shellCommands } from '../../../src/capture/import/shell-words.ts';

/** Characters that shells treat specially, and some that they do not. */
const CHARACTERS = Array.from('\'"\\ \t\n#=~*?[]{}()ab1é😀-');

/** Quotes that shells know, of which the words of the test are made. */
const QUOTES: readonly ((text: string) => string)[] = [
  (text) => `'${text.replaceAll("'", `'\\''`)}'`,
  (text) => `"${text.replaceAll(/[\\"]/g, '\\$&')}"`,
  (text) => text.replaceAll(/[^]/gu, (each) => (each === '\n' ? `'\n'` : `\\${each}`)),
  (text) =>
    `$'${text.replaceAll(/[^]/gu, (each) => [...Buffer.from(each)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''))}'`,
  (text) =>
    `$'${text.replaceAll(/[^]/gu, (each) => [...Buffer.from(each)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join(''))}'`,
  (text) => `$'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`,
];

const text = fc.string({ unit: fc.constantFrom(...CHARACTERS), maxLength: 8 });
const word = fc
  .array(fc.tuple(text, fc.constantFrom(...QUOTES)), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([part, quoted]) => quoted(part)).join(''));

it('splits words as bash does, for 300 scripts of random words in all quotes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
      (commands) => {
        const script = commands.map((words) => `show ${words.join(' \\\n ')}`).join(' ;\n');
        const shown = spawnSync(
          'bash',
          ['--norc', '-c', `show() { printf '%s\\0' "$@" $'\\n'; }\n${script}`],
          {
            encoding: 'latin1',
            timeout: 10_000,
          },
        );
        const ours = shellCommands(Buffer.from(script).toString('latin1')).map(({ words }) => words.slice(1));
        expect(ours.map((words) => [...words, '\n'].map((each) => `${each}\0`).join('')).join('')).toBe(
          shown.stdout,
        );
      },
    ),
    { numRuns: 300 },
  );
});
