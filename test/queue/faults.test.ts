import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { makeProgram, type Program } from '../store/program.ts';

const HAS_STRACE = hasTool('strace', '-V');
const ADDS = 60;

interface Told {
  readonly acknowledged: readonly string[];
  readonly refusals: readonly string[];
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
    ['full for a while', 'pwrite64:error=ENOSPC:when=150..165', /cannot be written: the disk is full$/],
    ['unable to write for a while', 'pwrite64:error=EIO:when=150..165', /the disk reports an error$/],
    ['unable to sync for a while', 'fsync,fdatasync:error=EIO:when=20..30', /the disk reports an error$/],
  ])('by being %s takes nothing that was acknowledged, and is used again when it works', async (...given) => {
    const [name, fault, sentence] = given;
    const file = join(program.folder, `${name}.db`);
    const calls = fault.slice(0, fault.indexOf(':'));
    const under = [
      'strace',
      '-f',
      '-qq',
      '-o',
      `${file}.trace`,
      '-e',
      `trace=${calls}`,
      '-e',
      `inject=${fault}`,
    ];
    const { stdout, stderr, code } = await program.run({ file, adds: ADDS }, { under });
    expect([code, stderr]).toEqual([0, '']);
    const told = JSON.parse(stdout.join('')) as Told; // what adding.ts prints
    expect(told.refusals).toEqual([expect.stringMatching(sentence)]);
    expect(told.before).toEqual(told.acknowledged);
    expect(told.after).toEqual(told.acknowledged);
    expect(told.acknowledged).toContain(String(ADDS - 1));
    expect(told.acknowledged.length).toBeLessThan(ADDS);
  });
});
