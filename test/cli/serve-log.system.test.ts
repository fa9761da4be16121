// Needs python3, which opens the terminal.
import { expect, it } from 'vitest';
import { onTerminal } from '../end-to-end/terminal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('hooks serve logs text on a terminal', async () => {
  const env = { HOOKS_URL: 'http://127.0.0.1:9', HOOKS_WRITE_KEY: 'wk' };
  const cwd = temporaryFolder();
  const steps = [['listening', '\u0003']] as const;
  const args = ['serve', '--port', '0', '--allow-private'];
  const { code, shown } = await onTerminal(args, { cwd, env: { ...env, HOOKS_DATA_DIR: cwd }, steps });
  expect(code).toBe(0);
  expect(shown).toMatch(/^\d\d:\d\d:\d\d {2}info {3}listening {2}url=http:\/\/127\.0\.0\.1:\d+\r?$/m);
  expect(shown).not.toContain('"level"');
});
