import { describe, expect, it, onTestFinished } from 'vitest';
import { PARTITIONS } from '../../src/audience/entry.ts';
import { MAX_MEMBER_BYTES, Spill } from '../../src/audience/spill.ts';
import { openChunkStore } from '../../src/stores/open.ts';

async function spillOf(lines: Iterable<string>): Promise<Spill> {
  const spill = new Spill(await openChunkStore());
  onTestFinished(() => spill.close());
  for (const line of lines) {
    const bytes = Buffer.from(line);
    spill.add(bytes, 0, bytes.length);
  }
  spill.finish();
  return spill;
}

function linesOf(spill: Spill, partition: number): string[] {
  return Buffer.concat(spill.chunksOf(partition)).toString().split('\n').slice(0, -1);
}

const all = (spill: Spill): string[] =>
  Array.from({ length: PARTITIONS }, (_, partition) => linesOf(spill, partition)).flat();

describe('Spill', () => {
  it('returns every entry, spread over all partitions by id', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `user-${index}`);
    const spill = await spillOf(lines);
    expect(spill.total).toBe(lines.length);
    expect(all(spill).toSorted()).toEqual(lines.toSorted());
    const sizes = Array.from({ length: PARTITIONS }, (_, partition) => spill.countOf(partition));
    expect(Math.max(...sizes)).toBeLessThan(4 * (lines.length / PARTITIONS));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  it('keeps the order of the entries of one id over many chunks', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => `u\t"${index}${'x'.repeat(1_000)}"`);
    const spill = await spillOf(lines);
    expect(all(spill)).toEqual(lines);
  });

  it('accepts the longest entry, and any mix of lengths', async () => {
    const lines = [1, MAX_MEMBER_BYTES, 2, MAX_MEMBER_BYTES, MAX_MEMBER_BYTES - 1, 3].map((length, index) =>
      `${index}`.padEnd(length, 'x'),
    );
    const spill = await spillOf(lines);
    expect(all(spill).toSorted()).toEqual(lines.toSorted());
  });
});
