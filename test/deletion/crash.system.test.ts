// Needs strace.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { BINARY, inherited } from '../end-to-end/hooks.ts';
import { HAS_STRACE, underFault } from '../failing-disk.ts';
import { ask } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const TO = { webhooks: ['http://127.0.0.1:9/'] };
const SOURCES = { web: { destinations: { A: TO, B: TO } }, shop: { destinations: { A: TO } } };
/** Two users go to three destinations. */
const DELIVERIES = 6;
/** Numbers of the writes at which the process is killed, from the opening of the file to its closing. */
const WRITES = Array.from({ length: 28 }, (_, index) => 8 + 2 * index);

/** Kills `hooks delete` at its nth write. Returns the number of requests, of their deliveries, and of deliveries in the queue. */
async function killedAt(nth: number): Promise<readonly number[]> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.hooksrc.json'), JSON.stringify({ sources: SOURCES }));
  const [strace = '', ...words] = underFault(`pwrite64:signal=SIGKILL:when=${nth}`);
  const options = { cwd: folder, env: { ...inherited(), HOOKS_DATA_DIR: folder }, stdio: 'ignore' } as const;
  const setUp = spawn(process.execPath, [BINARY, 'queue', 'stats'], options);
  await once(setUp, 'close');
  const command = [process.execPath, BINARY, 'delete', 'u1', 'u2', '--queue'];
  await once(spawn(strace, [...words, ...command], options), 'close');
  const counts = await ask(
    join(folder, 'hooks.db'),
    `SELECT count(*) FROM deletion_requests UNION ALL SELECT count(*) FROM deletion_deliveries
     UNION ALL SELECT count(*) FROM deliveries JOIN deletion_deliveries ON delivery = id
     UNION ALL SELECT count(*) FROM deliveries`,
  );
  return counts.map(Number);
}

it.skipIf(!HAS_STRACE)(
  'a deletion request is stored with all its deliveries or not at all, even in a crash',
  async () => {
    const found = new Set<string>();
    for (let from = 0; from < WRITES.length; from += 4) {
      const all = await Promise.all(WRITES.slice(from, from + 4).map(killedAt));
      for (const counts of all) found.add(String(counts));
    }
    const whole = [1, DELIVERIES, DELIVERIES, DELIVERIES];
    expect([...found].toSorted()).toEqual(['0,0,0,0', String(whole)]);
  },
  120_000,
);
