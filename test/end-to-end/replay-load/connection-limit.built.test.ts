import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../temporary-folder.ts';
import { BINARY, inherited } from '../hooks.ts';
import { tracks } from '../receiving.ts';
import { loadOf, loadReceiver } from './load-receiver.ts';

/** Runs a load of a receiver that takes 3 s, with at most this many open files. */
async function limitedLoad(openFiles: number, flags: readonly string[]) {
  const to = await loadReceiver((response) => void setTimeout(() => response.end(), 3_000));
  const cwd = temporaryFolder({ 'day.ndjson': tracks(5) });
  const load = ['--load', '100/s', '--for', '2s', '--loop', '--no-config', ...flags];
  const words = [process.execPath, BINARY, 'replay', 'day.ndjson', '--url', to.url, ...load];
  const script = `ulimit -n ${openFiles} && exec "$@"`;
  const child = spawn('sh', ['-c', script, 'sh', ...words], { cwd, env: inherited() });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [stdout, code] = await Promise.all([
    text(child.stdout),
    new Promise((resolve) => void child.once('exit', resolve)),
  ]);
  return { stdout, code };
}

it('a load names the limit of open files when it allows too few connections', async () => {
  const [plain, judged, json] = await Promise.all([
    limitedLoad(110, []),
    limitedLoad(110, ['--slo', 'p99<60s,errors<1%']),
    limitedLoad(110, ['-o', 'json']),
  ]);
  for (const { code, stdout } of [plain, judged]) {
    expect(stdout).toContain(
      'sender-bottleneck: the limit of open files allows 10 connections; raise it with ulimit -n',
    );
    expect(code).toBe(2);
  }
  expect(loadOf(json.stdout).load).toMatchObject({ verdict: 'sender-bottleneck', connectionLimit: 10 });
});

it('a load does not blame the sender for the limit that --concurrency sets', async () => {
  const { code, stdout } = await limitedLoad(300, ['--concurrency', '4']);
  expect(stdout).not.toContain('limit of open files');
  expect(stdout).toMatch(/verdict {4}(?:failed|sender-bottleneck: the sender was behind)/);
  expect([1, 2]).toContain(code);
});
