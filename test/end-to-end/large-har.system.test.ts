// Measures memory: of the import of 150 MB.
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { harEntry } from '../capture/import/formats.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { peakMemory } from './delivering.ts';
import { hooks } from './hooks.ts';

/** Number of entries, each with a response of 1 MB. */
const ENTRIES = 150;
const MOST_MB = 150;

it('imports a HAR file of 150 MB in bounded memory', { timeout: 120_000 }, async () => {
  const cwd = temporaryFolder();
  const file = createWriteStream(join(cwd, 'large.har'));
  file.write('{"log":{"entries":[');
  for (let index = 0; index < ENTRIES; index++) {
    const entry = harEntry({ url: `/hook/${index}`, body: Buffer.from(`{"n":${index}}`) });
    const response = { status: 200, headers: [], content: { text: 'x'.repeat(1_000_000) } };
    const text = `${index === 0 ? '' : ','}${JSON.stringify({ ...entry, response })}`;
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end(']}}');
  await once(file, 'close');
  const memory = await peakMemory();
  const { code, stdout } = await hooks(['import', 'large.har', '--to', 'out'], { cwd, env: memory.env });
  expect(stdout).toContain(`${ENTRIES} saved`);
  expect(code).toBe(0);
  expect(await memory.mb()).toBeLessThan(MOST_MB);
});
