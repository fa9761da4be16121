import { createServer, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';

/** Tests a receiver that responds with a status and the first bytes of a body, and calls `end` for the rest. */
async function testOf(end: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200).write('ok');
    end(response);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server that listens has an address
  const { stdout } = await hooks(['test', `http://127.0.0.1:${port}/`, '--only', 'page,screen,latency']);
  return stdout;
}

it('names a receiver whose responses have a status, but no end', async () => {
  expect(await testOf(() => {})).toContain('their bodies do not end');
}, 60_000);

it('accepts responses whose bodies end late', async () => {
  expect(await testOf((response) => setTimeout(() => response.end(), 700))).not.toContain('do not end');
}, 60_000);
