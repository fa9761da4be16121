import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { chunksOfFile } from '../../../src/replay/reading/inputs.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const CONTENT = Buffer.from(Array.from({ length: 300_000 }, (_, index) => `${index}`).join('\n'));

let file: string;

beforeAll(() => {
  file = join(temporaryFolder(), 'numbers');
  writeFileSync(file, CONTENT);
});

/** Goes on by `ms` whenever it is looked at. */
function clockThatTakes(ms: number): { now(): number } {
  let now = 0;
  return { now: () => (now += ms) };
}

describe('the chunks of a file', () => {
  it.each([
    ['at once', 0],
    ['by a thread where reading takes long', 50],
  ])('contain all of its bytes, read %s', async (_, ms) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of chunksOfFile(file, undefined, clockThatTakes(ms))) chunks.push(chunk);
    // Compared at the end only, so that a chunk written over by a later one is found.
    expect(chunks.length).toBeGreaterThan(4);
    expect(Buffer.concat(chunks).equals(CONTENT)).toBe(true);
  });

  it('include bytes that are added while it is read', async () => {
    const growing = join(temporaryFolder(), 'growing');
    writeFileSync(growing, 'before');
    const texts: string[] = [];
    for await (const chunk of chunksOfFile(growing)) {
      texts.push(Buffer.from(chunk).toString());
      if (texts.length === 1) appendFileSync(growing, 'after');
    }
    expect(texts).toEqual(['before', 'after']);
  });

  it('leave room for timers and sockets', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const stop = new AbortController();
    for await (const chunk of endless(stop.signal)) {
      expect(chunk.length).toBeGreaterThan(0);
      if (turns > 0) break;
    }
    clearInterval(timer);
    expect(turns).toBeGreaterThan(0);
  });

  it('end with an error when the signal aborts', async () => {
    const interruption = new AbortController();
    const chunks = chunksOfFile(file, interruption.signal);
    await chunks.next();
    interruption.abort(new Error('stop'));
    await expect(chunks.next()).rejects.toThrow('stop');
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  it('reject with the error of the system', async () => {
    await expect(chunksOfFile(join(file, 'x')).next()).rejects.toMatchObject({ code: 'ENOTDIR' });
  });
});

/** The file over and over, a bounded number of times. */
async function* endless(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (let times = 0; times < 1000; times++) yield* chunksOfFile(file, signal);
}
