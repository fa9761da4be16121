import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { build } from 'rolldown';

const folder = mkdtempSync(join(tmpdir(), 'hooks-young-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Keeps 1 MiB or so alive at a time, for long enough that it survives, as messages in flight do. Prints the greatest size, in MiB. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8';
  const alive = [];
  let greatest = 0;
  for (let made = 0; made < 2_000_000; made++) {
    alive[made % 10_000] = { made, others: [made, made, made] };
    if (made % 10_000 !== 0) continue;
    if (process.argv.includes('bound')) boundYoungGeneration();
    const { space_size: size } = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    greatest = Math.max(greatest, size / 2 ** 20);
  }
  if (process.argv.includes('bound')) releaseYoungGeneration();
  process.stdout.write(String(greatest));
`;

/** In a process of its own: what has grown does not shrink. */
function greatestMiB(...args: readonly string[]): number {
  const program = join(folder, 'program.mjs');
  return Number(execFileSync(process.execPath, [program, ...args], { encoding: 'utf8' }));
}

it('keeps the young generation at two halves of 8 MiB, where V8 would double it again', async () => {
  await build({
    input: 'program',
    platform: 'node',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : undefined),
        load: (id) =>
          id === 'program'
            ? `import { boundYoungGeneration, releaseYoungGeneration } from '${join(import.meta.dirname, '../../src/replay/young-generation.ts')}';${PROGRAM}`
            : undefined,
      },
    ],
    output: { file: join(folder, 'program.mjs'), format: 'esm' },
  });
  expect(greatestMiB('bound')).toBeLessThanOrEqual(17);
  expect(greatestMiB()).toBeGreaterThan(17);
});
