import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const BENCH = new URL('../bench/', import.meta.url).href;

/** In a process of its own: the benches are JavaScript without types. */
const PROGRAM = `
  import { measuredText } from '${BENCH}page.js';
  import { report } from '${BENCH}report.js';
  const lines = ['5000 messages, receiver: node:net'];
  const results = { 'hooks verify': [{ rate: 1 }, { rate: 2 }, { rate: 4 }], 'a, b': [{ rate: 1 }, { rate: 1 }, { rate: 1 }] };
  report(results, { quantities: { rate: { name: 'messages a second', shown: String } }, print: (line) => lines.push(line) });
  process.stdout.write(measuredText({ replay: lines }, 3));
`;

it('makes a row of each ratio that a bench prints, by its median', () => {
  const text = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' });
  const rows = text.split('\n').map((row) => row.split('|').map((cell) => cell.trim()));
  expect(rows.slice(4)).toEqual([
    ['', '`replay`', 'hooks verify', 'a, b', 'messages a second', '2.00×', '1.00× – 4.00×', ''],
  ]);
});

it('has its place in the page', () => {
  const page = readFileSync(new URL('../../docs/benchmarks.md', import.meta.url), 'utf8');
  expect(page).toMatch(/<!-- measured: npm run docs:benchmarks -->[^]*<!-- \/measured -->/);
});
