import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const TOKEN = 'canary-of-the-authorization';

it('send -v shows the headers of the request and the response, without secrets', async () => {
  const server = createServer((request, response) => {
    const cookie = `session=${TOKEN}`;
    response.writeHead(202, { 'X-Seen': `${request.headers.authorization}`, 'Set-Cookie': cookie });
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // listens on a port
  const url = `http://127.0.0.1:${port}/hook`;
  const args = ['send', 'track', '--event', 'A', '--user-id', 'u', '--secret', 's3cret-canary'];
  const target = ['--url', `${url}?token=${TOKEN}`, '--header', `Authorization: Bearer ${TOKEN}`];
  const cwd = temporaryFolder();
  const [shown, plain] = await Promise.all(
    [['-v'], []].map((flags) => hooks([...args, ...target, ...flags], { cwd })),
  ).finally(() => server.close());
  expect(shown?.code).toBe(0);
  expect(shown?.stderr).toContain(`> POST ${url}?token=***\n`);
  expect(shown?.stderr).toMatch(/^> X-Signature: [0-9a-f]{40}$/m);
  expect(shown?.stderr).toContain('> Authorization: ***\n');
  expect(shown?.stderr).toMatch(/^< 202$/m);
  expect(shown?.stderr).toContain('< set-cookie: ***\n');
  expect(shown?.stderr).toMatch(/^< x-seen: /m);
  expect(shown?.stderr).not.toContain('canary');
  expect(plain?.stderr).not.toMatch(/^[<>] /m);
});
