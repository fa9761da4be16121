import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { RawConnection, rawPost } from '../receiver/raw-connection.ts';
import { listening } from '../end-to-end/listening.ts';

const BODY = '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{},"messageId":"m1"}';

// Signals and full or closed pipes need a process. All other tests are in listen.test.ts.
describe('hooks listen in a process of its own', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('exits as interrupted by %s while it still waits', async (signal, code) => {
    const listen = await listening(['--count', '2']);
    await listen.post(BODY);
    await listen.nextLine();
    const result = await listen.stop(signal);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain('Expected 2 POSTs, got 1 request: 1 unchecked');
  });

  it('exits silently when its output is no longer read', async () => {
    const { PATH = '' } = process.env;
    const binary = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));
    const shell = spawn(
      'sh',
      ['-c', `"$0" "$1" listen --port 0 -o json | head -1`, process.execPath, binary],
      { env: { PATH, XDG_CONFIG_HOME: '/nonexistent' }, timeout: 20_000 },
    );
    let stderr = '';
    shell.stderr.on('data', (text) => (stderr += String(text)));
    const [ready] = (await once(shell.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(String(ready)) as { url: string };
    // The first line written after `head` has ended fails; then the port is closed.
    let isOpen = true;
    while (isOpen) {
      const answer = fetch(url, { method: 'POST', body: BODY });
      isOpen = await answer.then(({ ok }) => ok).catch(() => false);
    }
    if (shell.exitCode === null) await once(shell, 'close');
    expect(stderr).not.toMatch(/EPIPE|error|at /);
  });

  it('responds only as fast as its output is read', async () => {
    const listen = await listening(['-v']);
    listen.child.stdout.pause();
    const client = await RawConnection.open(listen.port);
    const post = rawPost(JSON.stringify('x'.repeat(2 * 1024 * 1024)));
    await new Promise<void>((resolve) => client.socket.write(post, () => resolve()));
    expect((await fetch(listen.url)).status).toBe(200);
    expect(client.socket.bytesRead).toBe(0);
    listen.child.stdout.resume();
    await client.until(/ 200 /);
  });
});
