// Makes the README's picture of a terminal, fixtures/terminal.svg, from a real run: npm run build && node test/build/terminal.js
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ESC = String.fromCodePoint(27);
const COLUMNS = 104;
const FAULTY = 'fixtures/receivers/broken/secret-with-newline.js';
const URL_SHOWN = 'http://localhost:3000/webhook';

/** The command lines of the picture, with the arguments of the real runs, whose receiver has a planted mistake. */
const STEPS = [
  {
    typed: 'hooks send track --event Signup --user-id u1 --loopback',
    args: 'send track --event Signup --user-id u1 --loopback'.split(' '),
  },
  {
    typed: `hooks test ${URL_SHOWN} --only track,unsigned,tampered -- node receiver.js`,
    args: `test ${URL_SHOWN} --only track,unsigned,tampered -- node ${FAULTY}`.split(' '),
  },
];

/** Colors of the escape sequences that the command line uses, on a dark background. */
const COLORS = { 2: '#8b949e', 31: '#ff7b72', 32: '#7ee787', 33: '#e3b341', 36: '#79c0ff' };

function run(args) {
  const env = { PATH: process.env.PATH, FORCE_COLOR: '1', COLUMNS: String(COLUMNS), HOOKS_SECRET: 's3cret' };
  const command = [join(ROOT, 'bin/hooks.js'), ...args, '--no-config'];
  // --no-config must come before `--`, which ends the flags.
  if (args.includes('--')) command.splice(command.indexOf('--'), 0, command.pop());
  return spawnSync(process.execPath, command, { cwd: ROOT, env, encoding: 'utf8' }).stdout.trimEnd();
}

/** Breaks a line at spaces to fit `COLUMNS`, with the indentation of the line. Escape sequences have no width. */
function wrap(line) {
  const indent = /^\s*/.exec(line)[0] + (/^\s*(?:wrong|fix):\s+/.exec(line) ? '       ' : '');
  const lines = [''];
  for (const word of line.split(/(?<= )(?=\S)/)) {
    const last = lines.length - 1;
    if (stripVTControlCharacters(lines[last] + word.trimEnd()).length > COLUMNS) lines.push(indent + word);
    else lines[last] += word;
  }
  return lines;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Returns a line of the terminal as tspans, one for each color. */
function tspans(line) {
  let colour;
  return line
    .split(new RegExp(`(${ESC}\\[\\d+m)`))
    .map((part) => {
      const code = part.startsWith(ESC) ? part.slice(2, -1) : undefined;
      if (code !== undefined) colour = COLORS[code];
      if (code !== undefined || part === '') return '';
      return colour === undefined ? escaped(part) : `<tspan fill="${colour}">${escaped(part)}</tspan>`;
    })
    .join('');
}

const lines = STEPS.flatMap(({ typed, args }) => [
  `${ESC}[2m$ ${ESC}[22m${typed}`,
  ...run(args).split('\n').flatMap(wrap),
  '',
]).slice(0, -1);
const [width, height] = [COLUMNS * 8.45 + 32, lines.length * 20 + 32];
const rows = lines.map((line, at) => `<text x="16" y="${at * 20 + 30}">${tspans(line)}</text>`);
writeFileSync(
  join(ROOT, 'fixtures/terminal.svg'),
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<style>text{font:14px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#e6edf3;white-space:pre}</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
${rows.join('\n')}
</svg>
`,
);
