import { spawn } from 'node:child_process';
import { Agent, get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { BINARY, inherited } from './hooks.ts';
import { settings } from './serve-and-worker.ts';

const LIMIT = 64;

/** Starts `hooks serve` with at most 64 open files and connections. */
async function limitedService() {
  const script = `ulimit -n ${LIMIT} && exec "$@"`;
  const words = [process.execPath, BINARY, 'serve', '--port', '0', '-o', 'json', '--no-deliver'];
  const env = {
    ...inherited(),
    ...settings({ url: 'https://receiver.example', dataDir: temporaryFolder() }),
  };
  const child = spawn('sh', ['-c', script, 'sh', ...words], { env });
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  await until(() => stdout.includes('\n'), `the service to be ready: ${stderr}`);
  const { url } = JSON.parse(stdout) as { url: string }; // its first line
  return { url: new URL(url), shortages: () => stderr.match(/out of file descriptors/g)?.length ?? 0 };
}

/** Returns a function that asks over one connection that stays open, as a load balancer does. */
function readinessOf(url: URL): () => Promise<unknown> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  return () =>
    new Promise((resolve, reject) => {
      const request = get(new URL('/readyz', url), { agent }, (response) =>
        response.resume().on('end', () => resolve(response.statusCode)),
      );
      request.on('error', reject);
    });
}

/** Opens connections until the service has no file descriptor left. */
function exhaust({ port, hostname }: URL): Socket[] {
  return Array.from({ length: 2 * LIMIT }, () => connect(Number(port), hostname).on('error', () => {}));
}

it('hooks serve logs once that it is out of file descriptors, and is not ready until it has some again', async () => {
  const { url, shortages } = await limitedService();
  const readiness = readinessOf(url);
  expect([await readiness(), shortages()]).toEqual([200, 0]);
  const sockets = exhaust(url);
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  // Without a probe, because the service must notice the shortage itself.
  await until(() => shortages() === 1, 'a line in the log');
  for (let time = 0; time < 20; time++) expect(await readiness()).toBe(503);
  expect(shortages()).toBe(1);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await readiness()) === 200, 'the service to be ready again');
  expect((await fetch(new URL('/healthz', url))).status).toBe(200);
});
