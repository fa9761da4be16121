// Needs bash.
import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { posixCommands } from '../../../src/capture/import/shell-words.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

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

/** The words of a script as bash passes them to the command `show`. Undefined for a script that bash rejects. */
function wordsOfBash(script: string): string | undefined {
  const shown = spawnSync(
    'bash',
    // A pattern that matches no file is removed, so that it is seen to be expanded.
    ['--norc', '-O', 'nullglob', '-c', `show() { printf '%s\\0' "$@" $'\\n'; }\n${script}`],
    { encoding: 'latin1', timeout: 10_000, cwd: temporaryFolder() },
  );
  return shown.status === 0 ? shown.stdout : undefined;
}

function wordsOfHooks(script: string): string {
  return posixCommands(Buffer.from(script).toString('latin1'))
    .flatMap(({ words }) => [...words.slice(1), '\n'])
    .map((each) => `${each}\0`)
    .join('');
}

it('splits words as bash does, for 300 scripts of random words in all quotes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(word, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 5 }),
      (commands) => {
        const script = commands.map((words) => `show ${words.join(' \\\n ')}`).join(' ;\n');
        expect(wordsOfHooks(script)).toBe(wordsOfBash(script));
      },
    ),
    { numRuns: 300 },
  );
});

it('splits random text as bash does, or has a problem with one of its words', () => {
  const piece = fc.constantFrom(
    ...Array.from('\'"\\ \t#~*?[]{},.$`()ab1-@!cx'),
    "$'",
    '$"',
    '\\c',
    '""',
    '..',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const script = `show ${pieces.join('')} end`;
      const [{ problems } = { problems: new Map() }, ...others] = posixCommands(script);
      fc.pre(problems.size === 0 && others.length === 0);
      const expected = wordsOfBash(script);
      fc.pre(expected !== undefined);
      expect(wordsOfHooks(script)).toBe(expected);
    }),
    { numRuns: 100 },
  );
});
