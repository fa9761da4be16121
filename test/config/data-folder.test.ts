import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/settings.ts';
import { asNobody } from '../as-nobody.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

function folderOf(mode: number, owner = isRoot ? NOBODY : process.geteuid?.()): string {
  const folder = join(temporaryFolder(), 'data');
  chmodSync(dirname(folder), 0o755);
  mkdirSync(folder);
  chmodSync(folder, mode);
  if (owner !== undefined) chownSync(folder, owner, owner);
  return folder;
}

/** Reads the setting twice, as commands do. */
async function dataDirOf(folder: string): Promise<{ dataDir: string; notes: readonly string[] }> {
  const notes: string[] = [];
  const settings = await loadSettings({
    flags: { config: false },
    env: { HOOKS_DATA_DIR: folder },
    cwd: '/',
    note: (line) => notes.push(line),
  });
  expect(settings.list().find(({ key }) => key === 'dataDir')?.value).toBe(folder);
  return { dataDir: [settings.dataDir, settings.dataDir][1] ?? '', notes };
}

describe('the data folder', () => {
  it.each([0o777, 0o1777, 0o702])('is rejected if any user can write to it (%o)', async (mode) => {
    const folder = folderOf(mode);
    await expect(asNobody(() => dataDirOf(folder))).rejects.toMatchObject({
      message: `Expected the data folder ${folder} to be writable by its owner only, got mode ${mode.toString(8).padStart(4, '0')}: any user can change the data in it`,
      code: 'ERR_HOOKS_CONFIG',
      hint: 'remove the write permission of others (chmod o-w), or set HOOKS_DATA_DIR to another folder',
    });
  });

  it.each([0o700, 0o755, 0o770])(
    'is used without a warning if only its owner and group can write to it (%o)',
    async (mode) => {
      const folder = folderOf(mode);
      expect(await asNobody(() => dataDirOf(folder))).toEqual({ dataDir: folder, notes: [] });
    },
  );

  it('can be missing', async () => {
    const folder = join(folderOf(0o700), 'deep/er');
    expect(await asNobody(() => dataDirOf(folder))).toEqual({ dataDir: folder, notes: [] });
  });

  it.runIf(isRoot)('is warned of once when it belongs to another user', async () => {
    const folder = folderOf(0o755, 0);
    expect(await asNobody(() => dataDirOf(folder))).toEqual({
      dataDir: folder,
      notes: [
        `warning: the data folder ${folder} belongs to another user (0, not ${NOBODY}), who can read and change the data in it`,
      ],
    });
  });

  it.runIf(isRoot)('may be any for root', async () => {
    const folder = folderOf(0o777);
    expect(await dataDirOf(folder)).toEqual({ dataDir: folder, notes: [] });
  });
});
