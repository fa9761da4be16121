// Needs strace.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HAS_STRACE, underFault } from '../failing-disk.ts';
import { makeProgram, type Program } from '../stores/sqlite/program.ts';

const ADDS = 60;

interface Told {
  readonly acknowledged: readonly string[];
  readonly rejections: readonly string[];
  readonly isLogNew: boolean;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

describe.skipIf(!HAS_STRACE)('a disk that fails', () => {
  let program: Program;

  beforeAll(async () => {
    program = await makeProgram('test/queue/adding.ts');
  });

  afterAll(() => program.remove());

  it.each([
    [
      'full for a while',
      'pwrite64:error=ENOSPC:when=150..165',
      /cannot be written: the disk is full$/,
      false,
    ],
    ['unable to write for a while', 'pwrite64:error=EIO:when=150..165', /the disk reports an error$/, true],
    [
      'unable to sync for a while',
      'fsync,fdatasync:error=EIO:when=20..30',
      /the disk reports an error$/,
      true,
    ],
  ])('by being %s loses nothing that was acknowledged, and is used again when it works', async (...given) => {
    const [name, fault, sentence, isLogNew] = given;
    const file = join(program.folder, `${name}.db`);
    const { stdout, stderr, code } = await program.run({ file, adds: ADDS }, { under: underFault(fault) });
    expect([code, stderr]).toEqual([0, '']);
    const told = JSON.parse(stdout.join('')) as Told; // what adding.ts prints
    expect(told.rejections).toEqual([expect.stringMatching(sentence)]);
    // Data synced before a failure may be missing on the disk, so it is written again.
    expect(told.isLogNew).toBe(isLogNew);
    expect(told.before).toEqual(told.acknowledged);
    expect(told.after).toEqual(told.acknowledged);
    expect(told.acknowledged).toContain(String(ADDS - 1));
    expect(told.acknowledged.length).toBeLessThan(ADDS);
  });
});
