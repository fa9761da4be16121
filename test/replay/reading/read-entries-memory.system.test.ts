// Takes minutes: it reads inputs of many megabytes, and collects garbage meanwhile.
import { describe, expect, it } from 'vitest';
import { readEntries } from '../../../src/replay/reading/read-entries.ts';
import { LiveMemory } from './live-memory.ts';

describe('a large input', () => {
  it('reads a batch of 60 MB on one line in constant memory', async () => {
    const memory = new LiveMemory();
    const elements = `${JSON.stringify({ type: 'track', pad: 'x'.repeat(1_000) })},`.repeat(1_000);
    async function* open(): AsyncGenerator<Buffer> {
      yield Buffer.from('{"batch":[');
      for (let count = 0; count < 60; count++) {
        yield Buffer.from(elements);
        if (count % 20 === 19) memory.measure();
      }
      yield Buffer.from('{}]}');
    }
    expect(await countOf(open)).toBe(60_001);
    expect(memory.mostBytes).toBeLessThan(10e6);
  });

  it('reads a million lines in constant memory', async () => {
    const memory = new LiveMemory();
    const line = '{"type":"track","userId":"u","event":"Signup","properties":{"plan":"pro"}}\n';
    async function* open(): AsyncGenerator<Buffer> {
      for (let count = 0; count < 1_000; count++) {
        yield Buffer.from(line.repeat(1_000));
        if (count % 250 === 249) memory.measure();
      }
    }
    expect(await countOf(open)).toBe(1_000_000);
    expect(memory.mostBytes).toBeLessThan(10e6);
  });
});

async function countOf(open: () => AsyncIterable<Buffer>): Promise<number> {
  let count = 0;
  for await (const entries of readEntries({ name: 'x', open })) count += entries.length;
  return count;
}
