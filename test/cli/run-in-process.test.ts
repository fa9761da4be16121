import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

describe('a command line that runs in the process of its tests', () => {
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
    const move = ['queue', 'move', '--store', 'one.db', '--to', './two.db'];
    expect(await hooks(move, { cwd })).toMatchObject({ code: 0 });
    const recover = ['queue', 'recover', 'two.db', '--to', 'three.db'];
    expect(await hooks(recover, { cwd })).toMatchObject({ code: 0 });
    const files = ['one.db', 'two.db', 'three.db'].filter((name) => existsSync(join(cwd, name)));
    expect(files).toEqual(['one.db', 'two.db', 'three.db']);
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
});

async function linesOfHelp(terminalColumns: number): Promise<number> {
  const { stdout } = await hooks(['send', '--help'], { terminalColumns });
  return stdout.split('\n').length;
}
