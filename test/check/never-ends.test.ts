import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';

it('names a receiver whose responses have a status, but no end', async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200).write('ok');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server that listens has an address
  const { stdout } = await hooks(['test', `http://127.0.0.1:${port}/`, '--only', 'page,screen,latency']);
  expect(stdout).toContain('their bodies do not end');
}, 60_000);
