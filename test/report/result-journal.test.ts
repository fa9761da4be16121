import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { ResultJournal, type KeptResult } from '../../src/report/result-journal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

let path: string;

beforeEach(() => {
  path = join(temporaryFolder(), 'a.results');
});

function result(index: number): KeptResult {
  return { index, outcome: 'failed', told: { reason: `"\\n\u2028${index}` } };
}

/** Writes the results, and returns the length of the journal. */
async function written(...indexes: readonly number[]): Promise<number> {
  const journal = new ResultJournal(path);
  for (const index of indexes) await journal.add(result(index));
  await journal.sync();
  await journal.close();
  return journal.bytes;
}

async function readBack(bytes: number): Promise<KeptResult[]> {
  const results: KeptResult[] = [];
  for await (const each of new ResultJournal(path, bytes).read()) results.push(each);
  return results;
}

describe('a journal of results', () => {
  it('returns the added results in order', async () => {
    const indexes = Array.from({ length: 5_000 }, (_, index) => index);
    const bytes = await written(...indexes);
    expect(await readBack(bytes)).toEqual(indexes.map(result));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('creates its file with the first result', async () => {
    expect(await written()).toBe(0);
    expect(existsSync(path)).toBe(false);
    expect(await readBack(0)).toEqual([]);
  });

  it('cuts off bytes of a killed process after its end', async () => {
    const bytes = await written(1, 2);
    appendFileSync(path, '{"index":3,"outcome":"fai');
    const journal = new ResultJournal(path, bytes);
    await journal.add(result(4));
    await journal.sync();
    await journal.close();
    expect(await readBack(journal.bytes)).toEqual([1, 2, 4].map(result));
    expect(readFileSync(path, 'utf8')).not.toContain('"index":3');
  });

  it('is rejected if it is incomplete', async () => {
    const bytes = await written(1, 2);
    truncateSync(path, bytes - 5);
    await expect(readBack(bytes)).rejects.toMatchObject({
      message: 'Not a readable journal of results',
      file: path,
    });
    writeFileSync(path, `${'{}'.padEnd(bytes - 1)}\n`);
    await expect(readBack(bytes)).rejects.toThrow('Not a readable journal');
    await expect(readBack(bytes - 3)).rejects.toThrow('Not a readable journal');
  });

  it('reports a failed write only when it syncs', async () => {
    const journal = new ResultJournal(join(path, 'no', 'such', 'folder'));
    await journal.add(result(1));
    await expect(journal.sync()).rejects.toThrow('Cannot be written');
    await journal.close();
  });
});
