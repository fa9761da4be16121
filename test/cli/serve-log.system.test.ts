// Needs python3, which opens the terminal.
import { expect, it } from 'vitest';
import { onTerminal } from '../end-to-end/terminal.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it.each([[[]], [['-v']]])('hooks serve logs text on a terminal, with %j', async (flags) => {
  const env = { HOOKS_URL: 'http://127.0.0.1:9', HOOKS_WRITE_KEY: 'wk' };
  const cwd = temporaryFolder();
  const steps = [['Taking calls on', '\u0003']] as const;
  const args = ['serve', '--port', '0', '--allow-private', ...flags];
  const { code, shown } = await onTerminal(args, { cwd, env: { ...env, HOOKS_DATA_DIR: cwd }, steps });
  expect(code).toBe(0);
  expect(shown.match(/Taking calls on +http/g)).toHaveLength(1);
  expect(shown).toMatch(/^\d\d:\d\d:\d\d {2}info {3}stopped\r?$/m);
  // The whole log, which only -v shows, has the address as a field.
  expect(/^\d\d:\d\d:\d\d {2}debug {2}listening {2}url=http:\/\/127\.0\.0\.1:\d+\r?$/m.test(shown)).toBe(
    flags.length > 0,
  );
  expect(shown).not.toContain('"level"');
});
