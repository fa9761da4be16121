// Needs python3.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SECRET } from '../end-to-end/receiving.ts';
import { onTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const [HIDDEN_CURSOR, SHOWN_CURSOR] = ['\x1b[?25l', '\x1b[?25h'];
const read = (cwd: string): Promise<string> => readFile(join(cwd, '.hooksrc.yaml'), 'utf8');

describe.skipIf(!hasTool('python3', '--version'))('hooks init at a terminal', () => {
  it('asks for the settings that no flag gives', async () => {
    const cwd = temporaryFolder();
    const { code, shown } = await onTerminal(['init'], {
      cwd,
      steps: [
        ['config for?', '\x1b[B\x1b[B\r'],
        ['posted to?', 'nonsense\r'],
        ['to be a URL', '\x15http://127.0.0.1:9/hook\r'],
        ['HOOKS_SECRET?', 'y\r'],
      ],
    });
    expect(shown).toContain('Wrote .hooksrc.yaml');
    expect(code).toBe(0);
    expect(await read(cwd)).toMatch(/^ {2}- "http:\/\/127\.0\.0\.1:9\/hook"$/m);
    expect(await read(cwd)).toMatch(/^sharedSecret:/m);
    expect(await read(cwd)).toMatch(/^writeKey: [0-9a-f]{32}$/m);
  });

  it('writes nothing when it is interrupted', async () => {
    const cwd = temporaryFolder();
    const { code } = await onTerminal(['init'], { cwd, steps: [['config for?', '\x03']] });
    expect(code).toBe(130);
    await expect(read(cwd)).rejects.toThrow('ENOENT');
  });

  it.each([1, 2, 3])(
    'reports the end of its input at question %i, and shows the cursor again',
    async (last) => {
      const questions = ['config for?', 'posted to?', 'HOOKS_SECRET?'].slice(0, last);
      const steps = questions.map((asked, index) => [asked, index + 1 === last ? '\x04' : '\r'] as const);
      const cwd = temporaryFolder();
      const { code, shown } = await onTerminal(['init'], { cwd, steps });
      expect(code).toBe(2);
      expect(shown).toContain('The input ended before the question was answered');
      expect(shown.lastIndexOf(SHOWN_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDDEN_CURSOR));
      await expect(read(cwd)).rejects.toThrow('ENOENT');
    },
  );

  it('asks nothing with --yes, or if flags give all settings', async () => {
    const cwd = temporaryFolder();
    expect(await onTerminal(['init', '--yes'], { cwd, steps: [] })).toMatchObject({ code: 0 });
    await writeFile(join(cwd, 'secret.txt'), SECRET);
    const flags = ['--force', '--for', 'ci', '--url', 'https://a.example', '--secret-file', 'secret.txt'];
    expect(await onTerminal(['init', ...flags], { cwd, steps: [] })).toMatchObject({ code: 0 });
    expect(await read(cwd)).toContain('https://a.example');
  });
});
