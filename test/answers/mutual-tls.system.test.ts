// Needs openssl.
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { makeCertificates } from '../certificates.ts';
import { hasTool } from '../external-tool.ts';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { listening } from './counterparts.ts';
import { SEND } from './cases/sending.ts';

/** A server that demands a client certificate, behind a door that counts who comes. */
async function mutualTls(version: string): Promise<{ url: string; ca: string; connections: () => number }> {
  const made = await makeCertificates();
  onTestFinished(() => made.remove());
  const free = await listening(createServer());
  await free.close();
  const { keyFile, certFile } = made.good;
  const words = ['s_server', '-accept', `127.0.0.1:${free.port}`, '-Verify', '1', version, '-www'];
  const server = spawn('openssl', [...words, '-key', keyFile, '-cert', certFile], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void server.kill());
  let said = '';
  server.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await until(() => said.includes('ACCEPT'), 'openssl to listen');
  let connections = 0;
  const door = await listening(
    createServer((socket) => {
      connections += 1;
      const inside = connect(free.port, '127.0.0.1').on('error', () => socket.end());
      socket.on('error', () => inside.destroy());
      socket.pipe(inside).pipe(socket);
      socket.on('close', () => inside.destroy());
    }),
  );
  onTestFinished(door.close);
  return { url: `https://127.0.0.1:${door.port}/hook`, ca: made.caFile, connections: () => connections };
}

describe.skipIf(!hasTool('openssl', 'version'))('a server that demands a client certificate', () => {
  it.each([
    [
      '-tls1_3',
      'it wants a client certificate (mutual TLS), which webhooks do not have',
      'exempt this path from it',
    ],
    // TLS 1.2 has no alert of its own for it.
    ['-tls1_2', 'or wants a client certificate', 'let it accept TLS 1.2 or later'],
  ])('is told and not asked again: openssl %s', async (version, cause, fix) => {
    const { url, ca, connections } = await mutualTls(version);
    const cwd = temporaryFolder();
    const argv = SEND.slice(0, -1).map((word) => (word === '{url}' ? url : word));
    const { code, stdout, stderr } = await hooks([...argv, '20s', '--ca', ca], {
      cwd,
      env: { HOOKS_DATA_DIR: cwd },
    });
    expect(`${stdout}${stderr}`).toContain(cause);
    expect(`${stdout}${stderr}`).toContain(`hint:  ${fix}`);
    expect(stderr).not.toContain('retry:');
    expect(code).toBe(1);
    // One to send, two to look at what the port speaks where the refusal does not say it.
    expect(connections()).toBeLessThanOrEqual(3);
  });
});
