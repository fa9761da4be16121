import { expect, it } from 'vitest';
import { startLibraryProgram } from './library-program.ts';

/** A common web server: a handler catches errors, and does not await the promise of the client. */
const SERVER = `
import { createServer } from 'node:http';

const webhooks = ['http://127.0.0.1:9/dead'];
const pipelineWith = (client) => hooks.createDeliveryPipeline({ webhooks, client });
const open = pipelineWith({});
const full = pipelineWith({ maxQueued: 1, whenFull: 'throw' });
full.client.track({ userId: 'u', event: 'E' });
const waiting = pipelineWith({ maxQueued: 1 });
for (let call = 0; call < 2; call++) waiting.client.track({ userId: 'u', event: 'E' });
const closed = pipelineWith({});
await closed.close();

const message = { type: 'track', event: 'E', userId: 'u', timestamp: '2026-01-01T00:00:00.000Z' };
const call = { userId: 'u', event: 'E' };
const routes = {
  '/no-user': () => open.client.track({ event: 'E' }),
  '/no-object': () => open.client.identify(undefined),
  '/too-large': () => open.client.page({ userId: 'u', properties: { text: 'x'.repeat(40_000) } }),
  '/full': () => full.client.track(call),
  '/full-enqueue': () => full.client.enqueue({ message }),
  '/full-deliver': () => full.deliver({ message }),
  '/too-many-wait': () => waiting.client.track(call),
  '/closed': () => closed.client.track(call),
  '/closed-enqueue': () => closed.client.enqueue({ message }),
  '/closed-deliver': () => closed.deliver({ message }),
  '/good': () => open.client.track(call),
};
const server = createServer((request, response) => {
  try {
    routes[request.url]();
    response.end('taken');
  } catch (error) {
    response.end(error.code);
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

it('a web server survives every rejected call', async () => {
  const { firstLine, child, ended } = startLibraryProgram(SERVER);
  const port = await Promise.race([firstLine, ended.then(({ stderr }) => stderr)]);
  const ask = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const answers: Record<string, string> = {};
  for (const path of Object.keys(EXPECTED)) answers[path] = await ask(path);
  expect(answers).toEqual(EXPECTED);
  expect(await ask('/good')).toBe('taken');
  child.kill('SIGTERM');
  expect((await ended).stderr).toBe('');
});

const EXPECTED = {
  '/no-user': 'ERR_HOOKS_VALIDATION',
  '/no-object': 'ERR_HOOKS_VALIDATION',
  '/too-large': 'ERR_HOOKS_VALIDATION',
  '/full': 'ERR_HOOKS_QUEUE',
  '/full-enqueue': 'ERR_HOOKS_QUEUE',
  '/full-deliver': 'ERR_HOOKS_QUEUE',
  '/too-many-wait': 'ERR_HOOKS_QUEUE',
  '/closed': 'ERR_HOOKS_CLOSED',
  '/closed-enqueue': 'ERR_HOOKS_CLOSED',
  '/closed-deliver': 'ERR_HOOKS_CLOSED',
};
