import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { ask, run } from '../stores/sqlite/ask.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks } from './hooks.ts';

/** Creates a queue whose file takes a moment to copy. */
async function largeFile(folder: string): Promise<string> {
  const file = join(folder, 'hooks.db');
  const { queue, close } = await openDurableQueue({ store: file, dataDir: '', clock: systemClock });
  await queue.add([newDelivery('d')]);
  await close();
  await run(file, 'CREATE TABLE ballast AS SELECT randomblob(60000000) AS bytes');
  return file;
}

describe('a backup', () => {
  it('gets its name when it is complete, and leaves only a hidden file if it is killed', async () => {
    const folder = temporaryFolder();
    const file = await largeFile(folder);
    const args = ['queue', 'backup', 'copy.db', '--store', file];
    const hidden = (): readonly string[] => readdirSync(folder).filter((name) => name.startsWith('.copy.db'));
    const killed = startHooks(args, { cwd: folder });
    await until(() => hidden().length > 0, 'the backup to begin');
    await killed.stop('SIGKILL');
    expect([existsSync(join(folder, 'copy.db')), hidden().length > 0]).toEqual([false, true]);
    expect(await hooks(args, { cwd: folder })).toMatchObject({ code: 0 });
    expect(hidden()).toEqual([]);
    expect(await ask(join(folder, 'copy.db'), 'SELECT count(*) FROM queue')).toEqual(['1']);
  });
});
