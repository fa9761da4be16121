// Needs python3.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './hooks.ts';
import { EVIL_BODY, EVIL_MESSAGE, expectHarmless } from './hostile-message.ts';
import { onTerminal } from './terminal.ts';

it.skipIf(!hasTool('python3', '--version'))(
  'queue export escapes messages that it prints to a terminal',
  async () => {
    const cwd = temporaryFolder({
      'day.ndjson': EVIL_BODY,
      '.hooksrc.json': '{"webhooks":["http://127.0.0.1:9"]}',
    });
    const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
    expect(await hooks(['replay', 'day.ndjson', '--queue'], { cwd, env })).toMatchObject({ code: 0 });
    const { code, shown } = await onTerminal(['queue', 'export'], { cwd, env, steps: [] });
    expect(code).toBe(0);
    const lines = shown.replaceAll('\r\n', '\n');
    expectHarmless({ stdout: lines, stderr: '' });
    expect(JSON.parse(lines.split('\n', 1)[0] ?? '')).toEqual({ version: 1, ...EVIL_MESSAGE });
  },
);
