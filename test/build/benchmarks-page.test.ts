import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const BENCH = new URL('../bench/', import.meta.url).href;

/** A program that calls the benches, which are JavaScript without types. */
const PROGRAM = `
  import { measuredText } from '${BENCH}page.js';
  import { report } from '${BENCH}report.js';
  const lines = ['5000 messages, receiver: node:net'];
  const results = { 'hooks verify': [{ rate: 1 }, { rate: 2 }, { rate: 4 }], 'a, b': [{ rate: 1 }, { rate: 1 }, { rate: 1 }] };
  report(results, { quantities: { rate: { name: 'messages a second', shown: String } }, print: (line) => lines.push(line) });
  const first = measuredText({ replay: lines, reading: lines }, 3);
  const other = ['x ÷ y, ms: 1.00× – 1.50× – 2.00×'];
  const texts = [first, measuredText({ reading: other }, 3, first), measuredText({ replay: other, reading: other }, 5, first)];
  try {
    measuredText({ reading: other }, 5, first);
  } catch (error) {
    texts.push(error.message);
  }
  process.stdout.write(JSON.stringify(texts));
`;

it('has a row with the median of each ratio, and keeps the rows of benches that a run omits', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', PROGRAM], { encoding: 'utf8' });
  const [refusal, ...texts] = (JSON.parse(output) as string[]).toReversed();
  const [withMoreRounds, ofOneBench, first] = texts.map((text) =>
    text.split('\n').map((row) => row.split('|').map((cell) => cell.trim())),
  );
  const row = ['hooks verify', 'a, b', 'messages a second', '2.00×', '1.00× – 4.00×', ''];
  const other = ['', '`reading`', 'x', 'y', 'ms', '1.50×', '1.00× – 2.00×', ''];
  expect(first?.slice(4)).toEqual([
    ['', '`replay`', ...row],
    ['', '`reading`', ...row],
  ]);
  expect(ofOneBench?.slice(4)).toEqual([['', '`replay`', ...row], other]);
  expect(withMoreRounds?.slice(4)).toEqual([other.with(1, '`replay`'), other]);
  expect(refusal).toMatch(
    /^Expected to measure as the rows of replay, which stay: Node .+, 3 rounds\. Got: Node .+, 5 rounds\./,
  );
});

it('is marked in the page', () => {
  const page = readFileSync(new URL('../../docs/benchmarks.md', import.meta.url), 'utf8');
  expect(page).toMatch(/<!-- measured: npm run docs:benchmarks -->[^]*<!-- \/measured -->/);
});
