// Needs haproxy.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { blocksIn } from './blocks.ts';

const HAPROXY = 'haproxy';

describe.skipIf(!hasTool(HAPROXY, '-v'))('a config of HAProxy in the docs', () => {
  it.each(blocksIn('haproxy'))('is valid: $page:$line', ({ text }) => {
    const cwd = temporaryFolder({ 'haproxy.cfg': text });
    const { status, stderr } = spawnSync(HAPROXY, ['-c', '-f', join(cwd, 'haproxy.cfg')], {
      encoding: 'utf8',
    });
    expect([status, stderr.replaceAll(/^\[NOTICE\].*\n/gm, '')]).toEqual([0, '']);
  });
});
