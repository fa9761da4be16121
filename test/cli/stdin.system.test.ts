// Needs python3.
import { describe, expect, it } from 'vitest';
import { BINARY, startHooks } from '../end-to-end/hooks.ts';
import { atTerminal, onTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { sign } from '../sign.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const END = '\x04';
const TRACK = '{"type":"track","event":"Signup","userId":"u1"}';

/** Each command, the name of its input in the note, and the typed text. */
const TYPED: readonly (readonly [args: readonly string[], what: string, typed: string])[] = [
  [['sign', '--secret', 's'], 'the body', '{}'],
  [['replay', '-', '--loopback'], 'the input -', TRACK],
  [['send', '--json', '@-', '--loopback'], '--json', TRACK],
  [['audience', 'sync', 'VIP', '-', '--loopback'], 'the input -', 'u1'],
  [['delete', '-', '--dry-run'], 'the input -', 'u1'],
];

describe.skipIf(!hasTool('python3', '--version'))('standard input that is a terminal', () => {
  it.concurrent.each(TYPED)('is asked for by %j as %s', async (args, what, typed) => {
    const cwd = temporaryFolder({ 'body.json': '{}' });
    const env = { HOOKS_DATA_DIR: cwd, HOOKS_URL: 'http://127.0.0.1:9/' };
    const { code, shown } = await onTerminal(args, { cwd, env, steps: [['Ctrl-D', `${typed}\n${END}`]] });
    expect([code, shown]).toEqual([
      0,
      expect.stringContaining(`reading ${what} from the terminal; end it with Ctrl-D on a line of its own`),
    ]);
  });

  it('does not show a secret that is typed', async () => {
    const cwd = temporaryFolder({ 'body.json': '{}' });
    const args = ['sign', '--secret-file', '-', 'body.json'];
    const typed = await onTerminal(args, { cwd, steps: [['Secret', 'typed-canary\r']] });
    expect([typed.code, typed.shown]).toEqual([0, expect.stringContaining(sign('{}', 'typed-canary'))]);
    expect(typed.shown).not.toContain('canary');
    for (const end of [END, '\x03']) {
      const { code, shown } = await onTerminal(args, { cwd, steps: [['Secret', end]] });
      expect([code === 0, shown]).toEqual([false, expect.not.stringContaining('    at ')]);
    }
  });

  it('does not show the secret that the command suggested by listen asks for', async () => {
    const listen = startHooks(['listen', '--port', '0'], { env: { HOOKS_SECRET: 'typed-canary' } });
    await until(() => /^Try: .*\n/m.test(listen.stderr()), 'the suggestion');
    const [, command = ''] = /^Try: hooks (.*)$/m.exec(listen.stderr()) ?? [];
    const { code, shown } = await atTerminal(['sh', '-c', `'${process.execPath}' '${BINARY}' ${command}`], {
      cwd: temporaryFolder(),
      steps: [['Secret', 'typed-canary\r']],
    });
    expect([code, shown]).toEqual([0, expect.not.stringContaining('canary')]);
    expect((await listen.stop()).stdout).toContain(' valid ');
  });

  it('is read without a note with -q', async () => {
    // The terminal echoes typed text, even if the silent command has not started yet.
    const { code, shown } = await onTerminal(['sign', '--secret', 's', '-q'], {
      cwd: temporaryFolder(),
      steps: [['', `{}\n${END}`]],
    });
    expect([code, shown]).toEqual([0, expect.not.stringContaining('terminal')]);
  });
});
