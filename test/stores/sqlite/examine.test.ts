import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import { examineQueue } from '../../../src/stores/open.ts';
import { asNobody } from '../../as-nobody.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const examine = (file: string) => examineQueue(file, systemClock);

describe('examineQueue', () => {
  it('reports for a missing queue whether this user can create it', async () => {
    const file = join(temporaryFolder(), 'not/there/hooks.db');
    expect(await examine(file)).toEqual({
      kind: 'absent',
      file,
      freeBytes: expect.any(Number) as number,
      problem: undefined,
    });
  });

  it('reports a folder that cannot be read', async () => {
    const folder = temporaryFolder({ 'a-file': '' });
    await expect(examine(join(folder, 'a-file/hooks.db'))).rejects.toThrow(
      'a part of its path is not a folder',
    );
    mkdirSync(join(folder, 'closed/data'), { recursive: true });
    chmodSync(join(folder, 'closed'), 0o700);
    await expect(asNobody(() => examine(join(folder, 'closed/data/hooks.db')))).rejects.toThrow(
      'cannot be opened: this user may not',
    );
  });
});
