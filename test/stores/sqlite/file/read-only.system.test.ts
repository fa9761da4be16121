// Needs root (or sudo without a password), to mount a disk.
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hooks } from '../../../end-to-end/hooks.ts';
import { MAY_MOUNT, SmallDisk } from '../../../failing-disk.ts';
import { newDelivery } from '../../../queue/new-delivery.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { newQueueFile, openQueueIn } from '../../queue-file.ts';

/** A read-only disk with a queue of two deliveries, the second only in the log, and the other files with these endings. */
async function readOnlyFile(ends: readonly string[], { isClosed = false } = {}): Promise<string> {
  const disk = new SmallDisk(join(temporaryFolder(), 'disk'), 4 * 1024 * 1024);
  onTestFinished(() => disk.remove());
  const [file, copy] = [newQueueFile(), join(disk.path, 'hooks.db')];
  const { queue, file: own, close } = await openQueueIn(file);
  await queue.add([newDelivery('first')]);
  await own?.settledBytes();
  await queue.add([newDelivery('second')]);
  if (isClosed) await close();
  for (const end of ['', ...ends]) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
  if (!isClosed) await close();
  disk.remount('ro');
  return copy;
}

describe.runIf(MAY_MOUNT)('a queue on a read-only file system', () => {
  it.each([
    ['was closed', [], true],
    ['was closed, and has an empty log', ['-wal', '-shm'], true],
    ['has all three files', ['-wal', '-shm'], false],
  ])('is read when it %s', async (_, ends, isClosed) => {
    const file = await readOnlyFile(ends, { isClosed });
    const { code, stdout } = await hooks(['queue', 'list', '--store', file, '-o', 'json']);
    expect([code, stdout.trimEnd().split('\n').length]).toEqual([0, 2]);
    expect(await hooks(['queue', 'stats', '--store', file])).toMatchObject({ code: 0 });
    const to = newQueueFile();
    for (const change of [
      ['drop', '--all', '--yes'],
      ['move', '--to', to],
    ]) {
      const { code: rejected, stderr } = await hooks(['queue', ...change, '--store', file]);
      expect([rejected, stderr]).toEqual([2, expect.stringContaining(`The queue ${file} cannot be written`)]);
    }
    expect(await (await openQueueIn(to)).inspection.stats()).toEqual([]);
    expect((await hooks(['worker', '--store', file, '--url', 'http://127.0.0.1:9/'])).code).toBe(2);
  });

  it('is rejected when its log is not empty and cannot be read', async () => {
    const file = await readOnlyFile(['-wal']);
    const { code, stderr } = await hooks(['queue', 'stats', '--store', file]);
    expect(code).toBe(2);
    expect(stderr).toContain('is read-only, and its log cannot be read');
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(`copy ${file}, ${file}-wal and ${file}-shm to a folder`);
  });

  it('reports a log that is gone', async () => {
    const file = await readOnlyFile(['-shm']);
    const { code, stderr } = await hooks(['queue', 'stats', '--store', file]);
    expect([code, stderr.replaceAll(/\s+/g, ' ')]).toEqual([
      0,
      expect.stringContaining('are missing from the log'),
    ]);
  });
});
