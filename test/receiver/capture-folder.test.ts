import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { CaptureFolder } from '../../src/receiver/capture-folder.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { asNobody } from '../as-nobody.ts';

describe('CaptureFolder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hooks-captures-'));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('says so when it may not write there, and leaves nothing behind', async () => {
    const captures = new CaptureFolder(folder);
    chmodSync(folder, 0o555);
    await expect(asNobody(() => captures.save(REQUEST))).rejects.toThrow('this user may not write there');
    expect(readdirSync(folder)).toEqual([]);
  });
});

const REQUEST: ReceivedRequest = {
  at: 0,
  method: 'POST',
  path: '/',
  rawHeaders: [],
  body: Buffer.from('{}'),
  verdict: 'unchecked',
  answered: 'status',
  status: 200,
  ms: 1,
};
