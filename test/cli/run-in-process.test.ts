import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './run-in-process.ts';

const SIGNED = { HOOKS_SECRET: 's3cret' };

describe('a command line that runs in the process of its tests', () => {
  it('gets its input, and returns its output and its exit code', async () => {
    const signature = await hooks(['sign'], { stdin: '{"a":1}', env: SIGNED });
    expect(signature).toMatchObject({
      code: 0,
      stdout: '79999786a1bff10cd4d7dd0b0752574af76be0b5\n',
      stderr: '',
    });
    expect(await hooks(['verify', '--signature', '00'], { stdin: '{"a":1}', env: SIGNED })).toMatchObject({
      code: 1,
    });
    expect(await hooks(['sing'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('leaves the process unchanged', async () => {
    const before = [process.exitCode, process.cwd(), { ...process.env }, process.listenerCount('SIGINT')];
    await hooks(['doctor', '-o', 'json'], { env: { HOOKS_STORE: 'sqlite:./absent.db' } });
    const after = [process.exitCode, process.cwd(), { ...process.env }, process.listenerCount('SIGINT')];
    expect(after).toEqual(before);
  });

  it('resolves every path from the folder of the command', async () => {
    const cwd = temporaryFolder({ '.hooksrc': 'webhooks: [https://a.example/hook]\n' });
    const send = ['send', 'track', '--event', 'E', '--user-id', 'u', '--queue'];
    expect(await hooks([...send, '--store', 'sqlite:./one.db'], { cwd })).toMatchObject({ code: 0 });
    expect(await hooks(['queue', 'move', '--store', 'one.db', '--to', './two.db'], { cwd })).toMatchObject({
      code: 0,
    });
    expect(await hooks(['queue', 'recover', 'two.db', '--to', 'three.db'], { cwd })).toMatchObject({
      code: 0,
    });
    expect(['one.db', 'two.db', 'three.db'].map((name) => existsSync(join(cwd, name)))).toEqual([
      true,
      true,
      true,
    ]);
    const doctor = await hooks(['doctor', '--store', 'sqlite:three.db', '-o', 'json'], { cwd });
    expect(doctor.stdout).toContain(join(cwd, 'three.db'));
  });

  it('writes colors, and lines of the width of its terminal', async () => {
    const env = { NO_COLOR: '', TERM: 'xterm' };
    const [narrow = 0, wide = 0] = await Promise.all([70, 120].map((columns) => linesOfHelp(columns)));
    expect(narrow).toBeGreaterThan(wide);
    const listed = await hooks(['config', '--no-config'], { env, terminalColumns: 60 });
    expect(listed.stdout).toContain('\u001b[2mdefault');
    expect((await hooks(['config', '--no-config'], { env })).stdout).not.toContain('\u001b');
  });

  it('ends with the code of the signal that interrupts it', async () => {
    for (const [signal, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      const { stop } = startHooks(['verify', '--signature', '00'], { env: SIGNED, keepsStdinOpen: true });
      expect((await stop(signal)).code).toBe(code);
    }
  });

  it('passes on each line when it is written', async () => {
    const { lines, stop } = startHooks(['listen', '--port', '0', '-o', 'json']);
    expect(JSON.parse(String((await lines.next()).value))).toHaveProperty('url');
    await stop();
  });
});

async function linesOfHelp(terminalColumns: number): Promise<number> {
  const { stdout } = await hooks(['send', '--help'], { terminalColumns });
  return stdout.split('\n').length;
}
