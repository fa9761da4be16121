import { describe, expect, it } from 'vitest';
import { ExpectedTotal } from '../../src/replay/expected-total.ts';
import { openInputs } from '../../src/replay/reading/inputs.ts';
import { readEntries } from '../../src/replay/reading/read-entries.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const LINES = Array.from({ length: 4_000 }, (_, index) => `{"type":"page","userId":"u${10_000 + index}"}`);

function input(name: string, bytes?: number) {
  const identity = bytes === undefined ? {} : { identity: { path: name, bytes, modifiedAtNs: '0' } };
  return { name, ...identity };
}

describe('the expected number of entries', () => {
  it('follows from the bytes and the entries so far, over all files', () => {
    const expected = new ExpectedTotal([input('a', 600), input('b', 400)]);
    expect(expected.total).toBeUndefined();
    expected.read(200);
    expected.found(10);
    expect(expected.total).toBe(50);
  });

  it.each([
    ['a pipe', [input('a', 600), input('<stdin>')]],
    ['a packed file', [input('a.gz', 600)]],
    ['a packed file of another name', [input('a', 100)]],
  ])('is unknown for %s', (_title, inputs) => {
    const expected = new ExpectedTotal(inputs);
    expected.read(200);
    expected.found(10);
    expect(expected.total).toBeUndefined();
  });

  it('is exact at each step for lines of equal length, and always at the end', async () => {
    const cwd = temporaryFolder({ 'a.ndjson': `${LINES.join('\n')}\n` });
    const [file] = await openInputs(['a.ndjson'], { cwd, stdin: process.stdin });
    if (file === undefined) throw new TypeError('Expected an input');
    const expected = new ExpectedTotal([file]);
    const totals: (number | undefined)[] = [];
    for await (const entries of readEntries(file, undefined, { onBytes: expected.read })) {
      expected.found(entries.length);
      totals.push(expected.total);
    }
    expect(totals.length).toBeGreaterThan(1);
    for (const total of totals) expect(Math.abs((total ?? 0) - LINES.length)).toBeLessThan(5);
    expect(totals.at(-1)).toBe(LINES.length);
  });
});
