import { chmodSync, readdirSync, watch } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CaptureFolder } from '../../src/capture/capture-folder.ts';
import type { CapturedRequest } from '../../src/capture/to-capture.ts';
import { asNobody } from '../as-nobody.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

describe('CaptureFolder', () => {
  const folder = temporaryFolder();

  it('reports a folder that is not writable and leaves no file', async () => {
    const captures = new CaptureFolder(folder, '--save');
    chmodSync(folder, 0o555);
    await expect(asNobody(() => captures.save(REQUEST))).rejects.toThrow(
      'this user may not write to the folder',
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('gives a capture its name only when it is complete', async () => {
    const watched = temporaryFolder();
    const events: (readonly [string, string | null])[] = [];
    const watcher = watch(watched, (kind, name) => events.push([kind, name]));
    onTestFinished(() => watcher.close());
    const file = basename(new CaptureFolder(watched, '--save').save(REQUEST));
    await until(() => events.some(([, name]) => name === file), 'the event of the file');
    expect(events.filter(([kind, name]) => kind === 'change' && name === file)).toEqual([]);
    expect(readdirSync(watched)).toEqual([file]);
  });

  it('keeps all captures of two folders with the same path in the same millisecond', () => {
    const shared = temporaryFolder();
    const [one, other] = [new CaptureFolder(shared, '--save'), new CaptureFolder(shared, '--save')];
    const files = [one, one, other, one, other].map((captures) => captures.save(REQUEST));
    expect(readdirSync(shared)).toEqual(files.map((file) => basename(file)).toSorted());
    expect(new Set(files).size).toBe(5);
  });
});

const REQUEST: CapturedRequest = { at: 0, method: 'POST', url: '/', headers: [], body: Buffer.from('{}') };
